BEGIN TRANSACTION;
CREATE TABLE delivered (
  message_out_id      TEXT PRIMARY KEY,
  platform_message_id TEXT,
  status              TEXT NOT NULL DEFAULT 'delivered',
  delivered_at        TEXT NOT NULL
);
INSERT INTO "delivered" VALUES('msg-a1',NULL,'delivered','2026-11-28T09:53:22.233Z');
INSERT INTO "delivered" VALUES('msg-a2',NULL,'failed','2026-11-28T09:53:22.693Z');
CREATE TABLE destinations (
  name            TEXT PRIMARY KEY,
  display_name    TEXT,
  type            TEXT NOT NULL,
  channel_type    TEXT,
  platform_id     TEXT,
  agent_group_id  TEXT
);
INSERT INTO "destinations" VALUES('dana','Dana','channel','telegram','telegram:100',NULL);
INSERT INTO "destinations" VALUES('finder','Finder','agent',NULL,NULL,'ag-1790000000000-bbbb05');
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
INSERT INTO "messages_in" VALUES('tg-1',2,'chat','2026-11-28T09:53:21.760Z','completed',NULL,NULL,'tg-1',0,1,'telegram:100','telegram',NULL,'{"text":"When does the library close?","sender":"Dana","senderId":"telegram:100"}',NULL,0);
INSERT INTO "messages_in" VALUES('tg-2',4,'chat','2026-11-28T09:53:22.603Z','completed',NULL,NULL,'tg-2',0,1,'telegram:100','telegram',NULL,'{"text":"And tomorrow?","sender":"Dana","senderId":"telegram:100"}',NULL,0);
INSERT INTO "messages_in" VALUES('tg-3',6,'chat','2026-11-28T09:53:22.728Z','completed',NULL,NULL,'tg-3',0,1,'telegram:100','telegram',NULL,'{"text":"Hello?","sender":"Dana","senderId":"telegram:100"}',NULL,0);
CREATE TABLE session_routing (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  channel_type TEXT,
  platform_id  TEXT,
  thread_id    TEXT
);
INSERT INTO "session_routing" VALUES(1,'telegram','telegram:100',NULL);
CREATE INDEX idx_messages_in_series ON messages_in(series_id);
COMMIT;
