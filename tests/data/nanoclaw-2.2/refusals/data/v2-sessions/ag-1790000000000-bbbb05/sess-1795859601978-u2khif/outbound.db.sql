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
INSERT INTO "messages_out" VALUES('msg-b1',3,'a2a-1795859602201-fdagjc','2026-11-28T09:53:22.347Z',NULL,NULL,'chat','ag-1790000000000-aaaa05','agent',NULL,'{"text":"At 18:00."}');
CREATE TABLE processing_ack (
  message_id     TEXT PRIMARY KEY,
  status         TEXT NOT NULL,
  status_changed TEXT NOT NULL
);
INSERT INTO "processing_ack" VALUES('a2a-1795859602201-fdagjc','completed','2026-11-28T09:53:22.383Z');
INSERT INTO "processing_ack" VALUES('appr-note-1795859602509-ruia8e','completed','2026-11-28T09:53:22.545Z');
CREATE TABLE session_state (
  key        TEXT PRIMARY KEY,
  value      TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
INSERT INTO "session_state" VALUES('continuation:claude','55555555-5555-4555-8555-555555555552','2026-11-28T09:53:22.557Z');
COMMIT;
