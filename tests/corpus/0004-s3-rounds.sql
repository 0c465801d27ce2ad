-- rounds: a run is in its second round: the first part is done, the second is queued.
-- Written by tests/support/corpus.py; see there.
BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE approval (
	call_id VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	assignment_id VARCHAR NOT NULL, 
	tool VARCHAR NOT NULL, 
	argv JSON NOT NULL, 
	digest VARCHAR NOT NULL, 
	risk VARCHAR NOT NULL, 
	why VARCHAR NOT NULL, 
	shown JSON NOT NULL, 
	requester VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	decided_by VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	decided_at DATETIME, shape INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (call_id)
);
CREATE TABLE assignment (
	id VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	agent VARCHAR NOT NULL, 
	queue VARCHAR NOT NULL, 
	goal VARCHAR NOT NULL, 
	inputs JSON NOT NULL, 
	needs JSON NOT NULL, 
	round INTEGER NOT NULL, 
	state VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	attempts INTEGER NOT NULL, 
	fence INTEGER NOT NULL, 
	lease_until FLOAT NOT NULL, 
	worker VARCHAR NOT NULL, 
	brain VARCHAR NOT NULL, 
	outcome JSON, 
	created_at DATETIME NOT NULL, 
	rung_at DATETIME, 
	started_at DATETIME, 
	ended_at DATETIME, shape INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (run_id, "key")
);
INSERT INTO "assignment" VALUES('run-rounds:job','run-rounds','job','worker','agents.worker','first','{}','[]',1,'done','',0,1,0.0,'w1','routine','{"answer": "first: one, two [mem:m-1]", "findings": [{"title": "\u9023\u7dda\u6c60\u8017\u76e1", "severity": "error", "score": 0.9, "detail": "", "key": "pool.exhausted", "evidence": [{"source": "app.log", "line": 2, "quote": "pool exhausted"}], "reasons": [], "against": []}], "not_found": [], "actions": [{"name": "count", "argv": [], "state": "done", "verified": null, "detail": "", "call_id": "run-rounds:job.1.1", "parameters": {"what": "one"}}, {"name": "count", "argv": [], "state": "done", "verified": null, "detail": "", "call_id": "run-rounds:job.2.1", "parameters": {"what": "two"}}], "notifications": [], "not_done": [], "cited_memories": ["m-1"], "facts": {"last": "first"}, "brain": "routine", "achieved": true, "partial": false, "usage": {"turns": 3, "calls": 2, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}}','2025-01-06 06:42:58.130157','2025-01-06 06:42:58.130256','2025-01-06 06:42:58.138524','2025-01-06 06:42:58.176133',3);
INSERT INTO "assignment" VALUES('run-rounds:more','run-rounds','more','worker','agents.worker','second','{}','[]',2,'queued','',0,0,0.0,'','','null','2025-01-06 06:42:58.184282','2025-01-06 06:42:58.184363',NULL,NULL,3);
CREATE TABLE audit (
	id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	actor VARCHAR NOT NULL, 
	action VARCHAR NOT NULL, 
	subject VARCHAR NOT NULL, 
	detail JSON NOT NULL, 
	previous_hash VARCHAR NOT NULL, 
	hash VARCHAR NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE call (
	id VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	assignment_id VARCHAR NOT NULL, 
	turn INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	tool VARCHAR NOT NULL, 
	arguments JSON NOT NULL, 
	effect VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	result JSON, 
	fence INTEGER NOT NULL, 
	worker VARCHAR NOT NULL, 
	attempts INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	ended_at DATETIME, shape INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (assignment_id, turn, position)
);
INSERT INTO "call" VALUES('run-rounds:job.1.1','run-rounds','run-rounds:job',1,1,'count','{"what": "one"}','keyed','ceb5c7df5a41dc4d00a728a633cc87a6616ce239bdb1c9e822c507927ddc240e','done','{"value": "one"}',1,'w1',1,'2025-01-06 06:42:58.147982','2025-01-06 06:42:58.154850','2025-01-06 06:42:58.159301',3);
INSERT INTO "call" VALUES('run-rounds:job.2.1','run-rounds','run-rounds:job',2,1,'count','{"what": "two"}','keyed','f0f433e2b55a73fdcdf52fbc65e770bd4039335693ade14377202db4b277e74e','done','{"value": "two"}',1,'w1',1,'2025-01-06 06:42:58.162605','2025-01-06 06:42:58.165277','2025-01-06 06:42:58.168159',3);
CREATE TABLE child (
	call_id VARCHAR NOT NULL, 
	fence INTEGER NOT NULL, 
	host VARCHAR NOT NULL, 
	boot_id VARCHAR NOT NULL, 
	pid INTEGER NOT NULL, 
	start_ticks INTEGER NOT NULL, 
	started_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	exit_code INTEGER, 
	PRIMARY KEY (call_id, fence)
);
CREATE TABLE dead_letter (
	id INTEGER NOT NULL, 
	queue VARCHAR NOT NULL, 
	subject VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	first_bytes VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, kind VARCHAR DEFAULT 'work' NOT NULL, size INTEGER DEFAULT '0' NOT NULL, body BLOB, stream_id VARCHAR, state VARCHAR DEFAULT 'kept' NOT NULL, decided_by VARCHAR DEFAULT '' NOT NULL, decided_at DATETIME, 
	PRIMARY KEY (id)
);
CREATE TABLE delivery (
	"key" VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	channel VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	attempts INTEGER NOT NULL, 
	answer VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE embed_cache (
	space_id VARCHAR NOT NULL, 
	content_hash VARCHAR NOT NULL, 
	vector BLOB NOT NULL, 
	PRIMARY KEY (space_id, content_hash)
);
CREATE TABLE embed_space (
	id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	dimensions INTEGER NOT NULL, 
	probe JSON NOT NULL, 
	state VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, made_by JSON DEFAULT '{}' NOT NULL, vectors_of VARCHAR DEFAULT '' NOT NULL, built_to INTEGER DEFAULT '0' NOT NULL, calibration JSON DEFAULT '{}' NOT NULL, retired_at DATETIME, 
	PRIMARY KEY (id)
);
CREATE TABLE event (
	run_id VARCHAR NOT NULL, 
	seq INTEGER NOT NULL, 
	body JSON NOT NULL, 
	PRIMARY KEY (run_id, seq)
);
INSERT INTO "event" VALUES('run-rounds',1,'{"run_id": "run-rounds", "assignment_id": "", "agent": "", "at": "2025-01-06T06:42:58.112814+00:00", "type": "status_change", "state": "accepted", "reason": "", "detail": {}}');
INSERT INTO "event" VALUES('run-rounds',2,'{"run_id": "run-rounds", "assignment_id": "", "agent": "", "at": "2025-01-06T06:42:58.125030+00:00", "type": "status_change", "state": "planning", "reason": "", "detail": {}}');
INSERT INTO "event" VALUES('run-rounds',3,'{"run_id": "run-rounds", "assignment_id": "", "agent": "", "at": "2025-01-06T06:42:58.131988+00:00", "type": "memory_recalled", "memories": [{"id": "m-1", "kind": "procedure", "text": "checkout: a larger pool mended it", "tier": "high", "score": 0.8, "age_days": 2.0, "source": "run:old", "slots": {"cause": "pool.exhausted", "remedy": {"action": "resize"}}, "explain": {"relevance": 0.9}, "certified": true}], "note": ""}');
INSERT INTO "event" VALUES('run-rounds',4,'{"run_id": "run-rounds", "assignment_id": "", "agent": "", "at": "2025-01-06T06:42:58.132153+00:00", "type": "status_change", "state": "working", "reason": "", "detail": {"planned_by": "playbook:default", "assignments": [{"key": "job", "agent": "worker", "needs": []}]}}');
INSERT INTO "event" VALUES('run-rounds',5,'{"run_id": "run-rounds", "assignment_id": "run-rounds:job", "agent": "worker", "at": "2025-01-06T06:42:58.132220+00:00", "type": "status_change", "state": "queued", "reason": "", "detail": {"key": "job", "goal": "first", "needs": [], "round": 1}}');
INSERT INTO "event" VALUES('run-rounds',6,'{"run_id": "run-rounds", "assignment_id": "run-rounds:job", "agent": "worker", "at": "2025-01-06T06:42:58.141416+00:00", "type": "status_change", "state": "running", "reason": "", "detail": {"worker": "w1", "attempt": 1}}');
INSERT INTO "event" VALUES('run-rounds',7,'{"run_id": "run-rounds", "assignment_id": "run-rounds:job", "agent": "worker", "at": "2025-01-06T06:42:58.156094+00:00", "type": "tool_call_start", "call_id": "run-rounds:job.1.1", "tool": "count", "arguments": {"what": "one"}, "attempt": 1}');
INSERT INTO "event" VALUES('run-rounds',8,'{"run_id": "run-rounds", "assignment_id": "run-rounds:job", "agent": "worker", "at": "2025-01-06T06:42:58.160283+00:00", "type": "tool_call_result", "call_id": "run-rounds:job.1.1", "tool": "count", "state": "done", "summary": "one", "seconds": 0.0}');
INSERT INTO "event" VALUES('run-rounds',9,'{"run_id": "run-rounds", "assignment_id": "run-rounds:job", "agent": "worker", "at": "2025-01-06T06:42:58.165893+00:00", "type": "tool_call_start", "call_id": "run-rounds:job.2.1", "tool": "count", "arguments": {"what": "two"}, "attempt": 1}');
INSERT INTO "event" VALUES('run-rounds',10,'{"run_id": "run-rounds", "assignment_id": "run-rounds:job", "agent": "worker", "at": "2025-01-06T06:42:58.168764+00:00", "type": "tool_call_result", "call_id": "run-rounds:job.2.1", "tool": "count", "state": "done", "summary": "two", "seconds": 0.0}');
INSERT INTO "event" VALUES('run-rounds',11,'{"run_id": "run-rounds", "assignment_id": "run-rounds:job", "agent": "worker", "at": "2025-01-06T06:42:58.179230+00:00", "type": "finding", "finding": {"title": "\u9023\u7dda\u6c60\u8017\u76e1", "severity": "error", "score": 0.9, "detail": "", "key": "pool.exhausted", "evidence": [{"source": "app.log", "line": 2, "quote": "pool exhausted"}], "reasons": [], "against": []}}');
INSERT INTO "event" VALUES('run-rounds',12,'{"run_id": "run-rounds", "assignment_id": "run-rounds:job", "agent": "worker", "at": "2025-01-06T06:42:58.179372+00:00", "type": "status_change", "state": "done", "reason": "", "detail": {}}');
INSERT INTO "event" VALUES('run-rounds',13,'{"run_id": "run-rounds", "assignment_id": "run-rounds:more", "agent": "worker", "at": "2025-01-06T06:42:58.185065+00:00", "type": "status_change", "state": "queued", "reason": "", "detail": {"key": "more", "goal": "second", "needs": [], "round": 2}}');
CREATE TABLE job_run (
	job VARCHAR NOT NULL, 
	epoch VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	cursor VARCHAR NOT NULL, 
	counts JSON NOT NULL, 
	holder VARCHAR NOT NULL, 
	lease_until FLOAT NOT NULL, 
	started_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	PRIMARY KEY (job, epoch)
);
CREATE TABLE memory (
	pk INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	namespace VARCHAR NOT NULL, 
	user VARCHAR NOT NULL, 
	owner VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	key_hash VARCHAR NOT NULL, 
	live BOOLEAN NOT NULL, 
	text VARCHAR NOT NULL, 
	slots JSON NOT NULL, 
	tags JSON NOT NULL, 
	source_kind VARCHAR NOT NULL, 
	source_ref VARCHAR NOT NULL, 
	trust FLOAT NOT NULL, 
	content_hash VARCHAR NOT NULL, 
	valid_from DATETIME NOT NULL, 
	valid_to DATETIME, 
	superseded_by VARCHAR NOT NULL, 
	recorded_at DATETIME NOT NULL, context VARCHAR DEFAULT '' NOT NULL, session VARCHAR DEFAULT '' NOT NULL, made_from JSON DEFAULT '[]' NOT NULL, 
	PRIMARY KEY (pk), 
	UNIQUE (id)
);
CREATE TABLE memory_access (
	id INTEGER NOT NULL, 
	pk INTEGER NOT NULL, 
	cited_by VARCHAR NOT NULL, 
	at FLOAT NOT NULL, 
	flushed BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(pk) REFERENCES memory (pk), 
	UNIQUE (pk, cited_by)
);
PRAGMA writable_schema=ON;
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','memory_archive','memory_archive',0,'CREATE VIRTUAL TABLE memory_archive USING fts5(words)');
CREATE TABLE 'memory_archive_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO "memory_archive_config" VALUES('version',4);
CREATE TABLE 'memory_archive_content'(id INTEGER PRIMARY KEY, c0);
CREATE TABLE 'memory_archive_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO "memory_archive_data" VALUES(1,X'');
INSERT INTO "memory_archive_data" VALUES(10,X'00000000000000');
CREATE TABLE 'memory_archive_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE 'memory_archive_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE memory_audit (
	seq INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	actor VARCHAR NOT NULL, 
	action VARCHAR NOT NULL, 
	memory_id VARCHAR NOT NULL, 
	namespace VARCHAR NOT NULL, 
	"before" JSON NOT NULL, 
	"after" JSON NOT NULL, 
	reason VARCHAR NOT NULL, 
	previous_hash VARCHAR NOT NULL, 
	hash VARCHAR NOT NULL, 
	PRIMARY KEY (seq)
);
CREATE TABLE memory_outbox (
	pk INTEGER NOT NULL, 
	rev INTEGER NOT NULL, 
	enqueued_at DATETIME NOT NULL, 
	attempts INTEGER NOT NULL, 
	last_error VARCHAR NOT NULL, 
	PRIMARY KEY (pk), 
	FOREIGN KEY(pk) REFERENCES memory (pk)
);
CREATE TABLE memory_rate (
	namespace VARCHAR NOT NULL, 
	source VARCHAR NOT NULL, 
	day VARCHAR NOT NULL, 
	count INTEGER NOT NULL, 
	PRIMARY KEY (namespace, source, day)
);
CREATE TABLE memory_state (
	pk INTEGER NOT NULL, 
	status VARCHAR NOT NULL, 
	tier VARCHAR NOT NULL, 
	next_transition_at FLOAT NOT NULL, 
	importance FLOAT NOT NULL, 
	emotion FLOAT NOT NULL, 
	weight INTEGER NOT NULL, 
	half_life_s FLOAT NOT NULL, 
	last_access_at FLOAT NOT NULL, 
	access_count INTEGER NOT NULL, 
	expires_at FLOAT, 
	rev INTEGER NOT NULL, 
	PRIMARY KEY (pk), 
	FOREIGN KEY(pk) REFERENCES memory (pk)
);
CREATE TABLE question (
	call_id VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	assignment_id VARCHAR NOT NULL, 
	tool VARCHAR NOT NULL, 
	known JSON NOT NULL, 
	state VARCHAR NOT NULL, 
	answered_by VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	answered_at DATETIME, 
	PRIMARY KEY (call_id)
);
CREATE TABLE run (
	id VARCHAR NOT NULL, 
	namespace VARCHAR NOT NULL, 
	user VARCHAR NOT NULL, 
	session_id VARCHAR, 
	state VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	request JSON NOT NULL, 
	playbook VARCHAR NOT NULL, 
	planned_by VARCHAR NOT NULL, 
	rounds JSON NOT NULL, 
	priority VARCHAR NOT NULL, 
	memories JSON NOT NULL, 
	memory_note VARCHAR NOT NULL, 
	session JSON NOT NULL, 
	session_summary VARCHAR NOT NULL, 
	stop VARCHAR NOT NULL, 
	stop_reason VARCHAR NOT NULL, 
	report JSON, 
	deadline_at DATETIME, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	published BOOLEAN NOT NULL, 
	version INTEGER NOT NULL, event_seq INTEGER DEFAULT '0' NOT NULL, shape INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "run" VALUES('run-rounds','default','local',NULL,'working','','{"text": "rounds twice", "sources": [{"name": "app.log", "path": null, "artifact": "0000000000000000000000000000000000000000000000000000000000000000", "format": "", "zone": ""}], "labels": {"service": "checkout", "\u5730\u57df": "\u6771\u4eac"}, "namespace": "default", "user": "local", "session_id": null, "priority": "normal", "deadline_seconds": null, "brain": "auto"}','default','playbook:default','["again"]','normal','[{"id": "m-1", "kind": "procedure", "text": "checkout: a larger pool mended it", "tier": "high", "score": 0.8, "age_days": 2.0, "source": "run:old", "slots": {"cause": "pool.exhausted", "remedy": {"action": "resize"}}, "explain": {"relevance": 0.9}, "certified": true}]','','[]','','','','null','2058-08-08 08:29:38.099332','2025-01-06 06:42:58.108617','2025-01-06 06:42:58.182853',NULL,0,3,13,3);
CREATE TABLE session (
	id VARCHAR NOT NULL, 
	namespace VARCHAR NOT NULL, 
	user VARCHAR NOT NULL, 
	summary VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	version INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE spend (
	"key" VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	assignment_id VARCHAR NOT NULL, 
	namespace VARCHAR NOT NULL, 
	day VARCHAR NOT NULL, 
	settled BOOLEAN NOT NULL, 
	model_calls INTEGER NOT NULL, 
	tool_calls INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	cost FLOAT NOT NULL, 
	seconds FLOAT NOT NULL, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE turn (
	id INTEGER NOT NULL, 
	assignment_id VARCHAR NOT NULL, 
	number INTEGER NOT NULL, 
	brain VARCHAR NOT NULL, 
	text VARCHAR NOT NULL, 
	calls JSON NOT NULL, 
	outcome JSON, 
	note VARCHAR NOT NULL, 
	usage JSON NOT NULL, 
	fence INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, shape INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (assignment_id, number)
);
INSERT INTO "turn" VALUES(1,'run-rounds:job',1,'routine','','[{"tool": "count", "arguments": {"what": "one"}}]','null','','{"turns": 0, "calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}',1,'2025-01-06 06:42:58.147774',3);
INSERT INTO "turn" VALUES(2,'run-rounds:job',2,'routine','','[{"tool": "count", "arguments": {"what": "two"}}]','null','','{"turns": 0, "calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}',1,'2025-01-06 06:42:58.162456',3);
INSERT INTO "turn" VALUES(3,'run-rounds:job',3,'routine','','[]','{"answer": "first: one, two [mem:m-1]", "findings": [{"title": "\u9023\u7dda\u6c60\u8017\u76e1", "severity": "error", "score": 0.9, "detail": "", "key": "pool.exhausted", "evidence": [{"source": "app.log", "line": 2, "quote": "pool exhausted"}], "reasons": [], "against": []}], "not_found": [], "actions": [], "notifications": [], "not_done": [], "cited_memories": [], "facts": {"last": "first"}, "brain": "routine", "achieved": true, "partial": false, "usage": {"turns": 0, "calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}}','','{"turns": 0, "calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}',1,'2025-01-06 06:42:58.171088',3);
CREATE TABLE working (
	run_id VARCHAR NOT NULL, 
	slot VARCHAR NOT NULL, 
	value JSON NOT NULL, 
	source VARCHAR NOT NULL, 
	at DATETIME NOT NULL, 
	PRIMARY KEY (run_id, slot)
);
INSERT INTO "working" VALUES('run-rounds','what','"rounds twice"','request','2025-01-06 06:42:58.108957');
INSERT INTO "working" VALUES('run-rounds','where','["checkout", "app.log"]','request','2025-01-06 06:42:58.108957');
INSERT INTO "working" VALUES('run-rounds','job.last','"first"','job','2025-01-06 06:42:58.176186');
INSERT INTO "working" VALUES('run-rounds','job.found','["\u9023\u7dda\u6c60\u8017\u76e1"]','job','2025-01-06 06:42:58.176186');
INSERT INTO "working" VALUES('run-rounds','job.done','["count: done", "count: done"]','job','2025-01-06 06:42:58.176186');
CREATE INDEX ix_approval_run_id ON approval (run_id);
CREATE INDEX ix_approval_state ON approval (state);
CREATE INDEX ix_assignment_due ON assignment (state, lease_until);
CREATE INDEX ix_assignment_run_id ON assignment (run_id);
CREATE INDEX ix_call_assignment_id ON call (assignment_id);
CREATE INDEX ix_call_key ON call ("key");
CREATE INDEX ix_call_run_id ON call (run_id);
CREATE INDEX ix_delivery_run_id ON delivery (run_id);
CREATE INDEX ix_run_created_at ON run (created_at);
CREATE INDEX ix_run_namespace ON run (namespace);
CREATE INDEX ix_run_session_id ON run (session_id);
CREATE INDEX ix_run_state ON run (state);
CREATE INDEX ix_turn_assignment_id ON turn (assignment_id);
CREATE INDEX ix_memory_content_hash ON memory (content_hash);
CREATE INDEX ix_memory_key ON memory (key_hash, namespace);
CREATE INDEX ix_memory_kind ON memory (namespace, kind, pk);
CREATE INDEX ix_memory_namespace ON memory (namespace, pk);
CREATE UNIQUE INDEX ux_memory_live ON memory (namespace, user, kind, key_hash) WHERE live;
CREATE INDEX ix_memory_audit_memory_id ON memory_audit (memory_id);
CREATE INDEX ix_memory_access_flushed ON memory_access (flushed);
CREATE INDEX ix_memory_state_due ON memory_state (status, next_transition_at);
CREATE INDEX ix_question_run_id ON question (run_id);
CREATE INDEX ix_question_state ON question (state);
CREATE INDEX ix_spend_assignment_id ON spend (assignment_id);
CREATE INDEX ix_spend_day ON spend (day);
CREATE INDEX ix_spend_namespace ON spend (namespace, day);
CREATE INDEX ix_spend_run_id ON spend (run_id);
CREATE INDEX ix_dead_letter_state ON dead_letter (state);
CREATE UNIQUE INDEX ix_dead_letter_stream_id ON dead_letter (stream_id);
CREATE INDEX ix_memory_rate_day ON memory_rate (day);
PRAGMA writable_schema=OFF;
COMMIT;
