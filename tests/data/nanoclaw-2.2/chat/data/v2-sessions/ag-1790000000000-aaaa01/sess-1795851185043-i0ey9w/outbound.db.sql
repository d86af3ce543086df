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
INSERT INTO "messages_out" VALUES('msg-1',3,'tg-1','2026-11-28T07:33:05.154Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"One moment, I look it up."}');
INSERT INTO "messages_out" VALUES('msg-2',5,'tg-1','2026-11-28T07:33:05.185Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"It is on 12 June at 15:00."}');
CREATE TABLE processing_ack (
  message_id     TEXT PRIMARY KEY,
  status         TEXT NOT NULL,
  status_changed TEXT NOT NULL
);
INSERT INTO "processing_ack" VALUES('tg-1','completed','2026-11-28T07:33:05.201Z');
CREATE TABLE session_state (
  key        TEXT PRIMARY KEY,
  value      TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
INSERT INTO "session_state" VALUES('continuation:claude','11111111-1111-4111-8111-111111111111','2026-11-28T07:33:05.210Z');
COMMIT;
