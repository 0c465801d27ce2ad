-- taken_over: the worker of a running assignment died in its second turn, in a call that it had claimed.
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
INSERT INTO "assignment" VALUES('run-plain:job','run-plain','job','worker','agents.worker','first','{}','[]',1,'running','',0,1,1.0,'w1','','null','2025-01-06 06:42:56.950960','2025-01-06 06:42:56.951158','2025-01-06 06:42:56.960098',NULL,3);
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
INSERT INTO "call" VALUES('run-plain:job.1.1','run-plain','run-plain:job',1,1,'count','{"what": "one"}','keyed','4de3aad189ab11ea98ef02ad742fe76289416e6d1eb96906eecf9f6327663ee8','done','{"value": "one"}',1,'w1',1,'2025-01-06 06:42:56.975962','2025-01-06 06:42:56.985246','2025-01-06 06:42:56.988990',3);
INSERT INTO "call" VALUES('run-plain:job.2.1','run-plain','run-plain:job',2,1,'count','{"what": "two"}','keyed','4359d8b63217d2e42f43c9b681af74748212068fbb6b83d8092db6c403dd01f9','claimed','null',1,'w1',1,'2025-01-06 06:42:56.992539','2025-01-06 06:42:56.995627',NULL,3);
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
INSERT INTO "event" VALUES('run-plain',1,'{"run_id": "run-plain", "assignment_id": "", "agent": "", "at": "2025-01-06T06:42:56.915934+00:00", "type": "status_change", "state": "accepted", "reason": "", "detail": {}}');
INSERT INTO "event" VALUES('run-plain',2,'{"run_id": "run-plain", "assignment_id": "", "agent": "", "at": "2025-01-06T06:42:56.946104+00:00", "type": "status_change", "state": "planning", "reason": "", "detail": {}}');
INSERT INTO "event" VALUES('run-plain',3,'{"run_id": "run-plain", "assignment_id": "", "agent": "", "at": "2025-01-06T06:42:56.953323+00:00", "type": "memory_recalled", "memories": [{"id": "m-1", "kind": "procedure", "text": "checkout: a larger pool mended it", "tier": "high", "score": 0.8, "age_days": 2.0, "source": "run:old", "slots": {"cause": "pool.exhausted", "remedy": {"action": "resize"}}, "explain": {"relevance": 0.9}, "certified": true}], "note": ""}');
INSERT INTO "event" VALUES('run-plain',4,'{"run_id": "run-plain", "assignment_id": "", "agent": "", "at": "2025-01-06T06:42:56.953538+00:00", "type": "status_change", "state": "working", "reason": "", "detail": {"planned_by": "playbook:default", "assignments": [{"key": "job", "agent": "worker", "needs": []}]}}');
INSERT INTO "event" VALUES('run-plain',5,'{"run_id": "run-plain", "assignment_id": "run-plain:job", "agent": "worker", "at": "2025-01-06T06:42:56.953612+00:00", "type": "status_change", "state": "queued", "reason": "", "detail": {"key": "job", "goal": "first", "needs": [], "round": 1}}');
INSERT INTO "event" VALUES('run-plain',6,'{"run_id": "run-plain", "assignment_id": "run-plain:job", "agent": "worker", "at": "2025-01-06T06:42:56.968092+00:00", "type": "status_change", "state": "running", "reason": "", "detail": {"worker": "w1", "attempt": 1}}');
INSERT INTO "event" VALUES('run-plain',7,'{"run_id": "run-plain", "assignment_id": "run-plain:job", "agent": "worker", "at": "2025-01-06T06:42:56.986329+00:00", "type": "tool_call_start", "call_id": "run-plain:job.1.1", "tool": "count", "arguments": {"what": "one"}, "attempt": 1}');
INSERT INTO "event" VALUES('run-plain',8,'{"run_id": "run-plain", "assignment_id": "run-plain:job", "agent": "worker", "at": "2025-01-06T06:42:56.989882+00:00", "type": "tool_call_result", "call_id": "run-plain:job.1.1", "tool": "count", "state": "done", "summary": "one", "seconds": 0.0}');
INSERT INTO "event" VALUES('run-plain',9,'{"run_id": "run-plain", "assignment_id": "run-plain:job", "agent": "worker", "at": "2025-01-06T06:42:56.996375+00:00", "type": "tool_call_start", "call_id": "run-plain:job.2.1", "tool": "count", "arguments": {"what": "two"}, "attempt": 1}');
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
INSERT INTO "run" VALUES('run-plain','default','local',NULL,'working','','{"text": "plain \u67e5\u4e00\u4e0b", "sources": [{"name": "app.log", "path": null, "artifact": "0000000000000000000000000000000000000000000000000000000000000000", "format": "", "zone": ""}], "labels": {"service": "checkout", "\u5730\u57df": "\u6771\u4eac"}, "namespace": "default", "user": "local", "session_id": null, "priority": "normal", "deadline_seconds": null, "brain": "auto"}','default','playbook:default','[]','normal','[{"id": "m-1", "kind": "procedure", "text": "checkout: a larger pool mended it", "tier": "high", "score": 0.8, "age_days": 2.0, "source": "run:old", "slots": {"cause": "pool.exhausted", "remedy": {"action": "resize"}}, "explain": {"relevance": 0.9}, "certified": true}]','','[]','','','','null','2058-08-08 08:29:36.895367','2025-01-06 06:42:56.904581','2025-01-06 06:42:56.948845',NULL,0,2,9,3);
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
INSERT INTO "turn" VALUES(1,'run-plain:job',1,'routine','','[{"tool": "count", "arguments": {"what": "one"}}]','null','','{"turns": 0, "calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}',1,'2025-01-06 06:42:56.975686',3);
INSERT INTO "turn" VALUES(2,'run-plain:job',2,'routine','','[{"tool": "count", "arguments": {"what": "two"}}]','null','','{"turns": 0, "calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}',1,'2025-01-06 06:42:56.992384',3);
CREATE TABLE working (
	run_id VARCHAR NOT NULL, 
	slot VARCHAR NOT NULL, 
	value JSON NOT NULL, 
	source VARCHAR NOT NULL, 
	at DATETIME NOT NULL, 
	PRIMARY KEY (run_id, slot)
);
INSERT INTO "working" VALUES('run-plain','what','"plain \u67e5\u4e00\u4e0b"','request','2025-01-06 06:42:56.904937');
INSERT INTO "working" VALUES('run-plain','where','["checkout", "app.log"]','request','2025-01-06 06:42:56.904937');
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
