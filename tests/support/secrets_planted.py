"""Logs with secrets in every place a log has: message, field, field's name, service, host, trace, stack, a key's lines."""

from __future__ import annotations

import json

#: What must not be seen, and the line that holds it; `{n}` counts the seconds.
PLANTED: dict[str, str] = {
    "Pl4nt-msg-01": "2026-11-29T03:00:{n:02}Z ERROR checkout: login failed password=Pl4nt-msg-01 user=root",
    "Pl4nt-zh-02": "2026-11-29T03:00:{n:02}Z ERROR checkout: 登录失败 密码：Pl4nt-zh-02",
    "Pl4nt-dsn-03": "2026-11-29T03:00:{n:02}Z ERROR checkout: cannot reach postgresql://desk:Pl4nt-dsn-03@db:5432/x",
    "Pl4nt4bearer0123456789abcdef": "2026-11-29T03:00:{n:02}Z WARN gateway: refused Authorization: Bearer Pl4nt4bearer0123456789abcdef",
    "YWRtaW46UGw0bnRlZC0wNQ==": "2026-11-29T03:00:{n:02}Z WARN gateway: refused Authorization: Basic YWRtaW46UGw0bnRlZC0wNQ==",
    "LTAI5tPlantedKeyId0006": "2026-11-29T03:00:{n:02}Z ERROR oss: key LTAI5tPlantedKeyId0006 is disabled",
    "AKIAIOSFODNN7PLANTED": '{{"time":"2026-11-29T03:00:{n:02}Z","level":"error","service":"s3","msg":"denied","AKIAIOSFODNN7PLANTED":1}}',
    "Pl4nt-json-08": '{{"time":"2026-11-29T03:00:{n:02}Z","level":"error","service":"auth","msg":"denied","password":"Pl4nt-json-08"}}',
    "Pl4nt-nested-09": '{{"time":"2026-11-29T03:00:{n:02}Z","level":"error","service":"auth","msg":"bad body","body":"{{\\"db\\":{{\\"client_secret\\":\\"Pl4nt-nested-09\\"}}}}"}}',
    "sk-proj-PlantedServiceName10": '{{"time":"2026-11-29T03:00:{n:02}Z","level":"error","service":"sk-proj-PlantedServiceName10","msg":"crashed"}}',
    "ghp_PlantedHostName0123456789ABCDEFabcdef": '{{"time":"2026-11-29T03:00:{n:02}Z","level":"error","service":"a","host":"ghp_PlantedHostName0123456789ABCDEFabcdef","msg":"lost"}}',
    "glpat-PlantedTrace0123456789": '{{"time":"2026-11-29T03:00:{n:02}Z","level":"error","service":"a","trace_id":"glpat-PlantedTrace0123456789","msg":"slow"}}',
    "13800138013": "2026-11-29T03:00:{n:02}Z INFO sms: code sent to 13800138013",
    "110101199003070011": "2026-11-29T03:00:{n:02}Z INFO kyc: 身份证号：110101199003070011 核验失败",
    "6222021000112230": "2026-11-29T03:00:{n:02}Z ERROR pay: 银行卡 6222021000112230 扣款失败",
    "planted.person@example.com.cn": "2026-11-29T03:00:{n:02}Z ERROR mail: cannot deliver to planted.person@example.com.cn",
    "T000PLANT/B000/XXXX1234plant": "2026-11-29T03:00:{n:02}Z ERROR hook: POST https://hooks.slack.com/services/T000PLANT/B000/XXXX1234plant 500",
    "0f1e2d3c-1111-2222-3333-plantedhook1": "2026-11-29T03:00:{n:02}Z ERROR hook: POST https://open.feishu.cn/open-apis/bot/v2/hook/0f1e2d3c-1111-2222-3333-plantedhook1",
    "eyJzdWIiOiJwbGFudGVkIn0": "2026-11-29T03:00:{n:02}Z ERROR jwt: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.sflKxwRJSMeKKF2QT4 expired",
    "sid7plantedcookie20": "2026-11-29T03:00:{n:02}Z ERROR http: request failed Cookie: sessionid=sid7plantedcookie20; theme=dark",
    "Pl4nt-url-21": "2026-11-29T03:00:{n:02}Z ERROR http: GET /cb%3Faccess_token%3DPl4nt-url-21aaaa failed",
    "lanted-ansi-22": "2026-11-29T03:00:{n:02}Z ERROR db: password=\x1b[33mPl\x1b[0mlanted-ansi-22 rejected",
    "Pl4nt-trace-23": "2026-11-29T03:00:{n:02}Z ERROR java: java.lang.IllegalStateException: pwd=Pl4nt-trace-23\n\tat shop.Db.open(Db.java:7)\nCaused by: java.sql.SQLException: secret=Pl4nt-trace-23\n\tat shop.Pool.get(Pool.java:9)",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj": "2026-11-29T03:00:{n:02}Z ERROR tls: cannot parse\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SSPLanTedL1n3of4lA5lanTedEnd0FKey\nc3Planted0LastLine5=\n-----END PRIVATE KEY-----",
    "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SSPLanTedL1n3of4lA5lanTedEnd0FKey": "",
    "c3Planted0LastLine5": "",
}  # fmt: skip


def planted_log(times: int = 3) -> str:
    """Return a log in which each secret stands so many times."""
    lines = [line for line in PLANTED.values() if line] * times
    return "\n".join(line.format(n=n % 60) for n, line in enumerate(lines)) + "\n"


def seen(answer: object) -> list[str]:
    """Return the secrets that stand in an answer, however it is encoded."""
    texts = [json.dumps(answer, ensure_ascii=plain, default=str) for plain in (True, False)]
    texts.append(texts[1].replace("\\\\", "\\").replace('\\"', '"'))
    return [secret for secret in PLANTED if any(secret in text for text in texts)]
