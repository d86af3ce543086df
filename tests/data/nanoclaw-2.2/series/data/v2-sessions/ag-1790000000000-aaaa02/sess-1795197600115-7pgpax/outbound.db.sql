BEGIN TRANSACTION;
CREATE TABLE container_state (
  id                       INTEGER PRIMARY KEY CHECK (id = 1),
  current_tool             TEXT,
  tool_declared_timeout_ms INTEGER,
  tool_started_at          TEXT,
  updated_at               TEXT NOT NULL
);
CREATE TABLE messages_out (
  id             TEXT PRIMARY KEY,
  seq            INTEGER UNIQUE,
  in_reply_to    TEXT,
  timestamp      TEXT NOT NULL,
  deliver_after  TEXT,
  recurrence     TEXT,
  kind           TEXT NOT NULL,
  platform_id    TEXT,
  channel_type   TEXT,
  thread_id      TEXT,
  content        TEXT NOT NULL
);
INSERT INTO "messages_out" VALUES('cli-1',3,NULL,'2026-11-20T18:00:00.302Z',NULL,NULL,'system',NULL,NULL,NULL,'{"action":"cli_request","requestId":"cli-1","command":"tasks-create","args":{"name":"weather note","prompt":"Tell Dana the weather of the day.","recurrence":"0 7 * * *"}}');
INSERT INTO "messages_out" VALUES('msg-1',5,'tg-1','2026-11-20T18:00:00.509Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"From now on I tell you each morning at seven."}');
CREATE TABLE processing_ack (
  message_id     TEXT PRIMARY KEY,
  status         TEXT NOT NULL,
  status_changed TEXT NOT NULL
);
INSERT INTO "processing_ack" VALUES('tg-1','completed','2026-11-20T18:00:00.525Z');
CREATE TABLE session_state (
  key        TEXT PRIMARY KEY,
  value      TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
INSERT INTO "session_state" VALUES('continuation:claude','20000000-0000-4000-8000-000000000000','2026-11-20T18:00:00.544Z');
COMMIT;
