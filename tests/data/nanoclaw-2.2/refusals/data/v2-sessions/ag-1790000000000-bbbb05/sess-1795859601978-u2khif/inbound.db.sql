BEGIN TRANSACTION;
CREATE TABLE delivered (
  message_out_id      TEXT PRIMARY KEY,
  platform_message_id TEXT,
  status              TEXT NOT NULL DEFAULT 'delivered',
  delivered_at        TEXT NOT NULL
);
INSERT INTO "delivered" VALUES('msg-b1',NULL,'delivered','2026-11-28T09:53:22.457Z');
CREATE TABLE destinations (
  name            TEXT PRIMARY KEY,
  display_name    TEXT,
  type            TEXT NOT NULL,
  channel_type    TEXT,
  platform_id     TEXT,
  agent_group_id  TEXT
);
INSERT INTO "destinations" VALUES('andy','Andy','agent',NULL,NULL,'ag-1790000000000-aaaa05');
CREATE TABLE messages_in (
  id             TEXT PRIMARY KEY,
  seq            INTEGER UNIQUE,
  kind           TEXT NOT NULL,
  timestamp      TEXT NOT NULL,
  status         TEXT DEFAULT 'pending',
  process_after  TEXT,
  recurrence     TEXT,
  series_id      TEXT,
  tries          INTEGER DEFAULT 0,
  trigger        INTEGER NOT NULL DEFAULT 1,
  platform_id    TEXT,
  channel_type   TEXT,
  thread_id      TEXT,
  content        TEXT NOT NULL,
  source_session_id TEXT,
  on_wake        INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "messages_in" VALUES('a2a-1795859602201-fdagjc',2,'chat','2026-11-28T09:53:22.201Z','completed',NULL,NULL,'a2a-1795859602201-fdagjc',0,1,'ag-1790000000000-aaaa05','agent',NULL,'{"text":"When does the library close today?"}','sess-1795859601434-ao2zll',0);
INSERT INTO "messages_in" VALUES('appr-note-1795859602509-ruia8e',4,'chat','2026-11-28T09:53:22.509Z','completed',NULL,NULL,'appr-note-1795859602509-ruia8e',0,1,'ag-1790000000000-bbbb05','agent',NULL,'{"text":"Your a2a_message_gate request was rejected by admin.","sender":"system","senderId":"system"}',NULL,0);
CREATE TABLE session_routing (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  channel_type TEXT,
  platform_id  TEXT,
  thread_id    TEXT
);
INSERT INTO "session_routing" VALUES(1,NULL,NULL,NULL);
CREATE INDEX idx_messages_in_series ON messages_in(series_id);
COMMIT;
