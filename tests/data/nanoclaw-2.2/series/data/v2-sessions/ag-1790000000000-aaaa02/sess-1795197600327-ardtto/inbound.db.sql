BEGIN TRANSACTION;
CREATE TABLE delivered (
  message_out_id      TEXT PRIMARY KEY,
  platform_message_id TEXT,
  status              TEXT NOT NULL DEFAULT 'delivered',
  delivered_at        TEXT NOT NULL
);
INSERT INTO "delivered" VALUES('msg-t1','100:2','delivered','2026-11-21T07:00:20.102Z');
INSERT INTO "delivered" VALUES('log-1',NULL,'delivered','2026-11-21T07:00:20.142Z');
INSERT INTO "delivered" VALUES('msg-t2','100:3','delivered','2026-11-22T07:00:20.102Z');
INSERT INTO "delivered" VALUES('log-2',NULL,'delivered','2026-11-22T07:00:20.146Z');
CREATE TABLE destinations (
  name            TEXT PRIMARY KEY,
  display_name    TEXT,
  type            TEXT NOT NULL,
  channel_type    TEXT,
  platform_id     TEXT,
  agent_group_id  TEXT
);
INSERT INTO "destinations" VALUES('dana','Dana','channel','telegram','telegram:100',NULL);
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
INSERT INTO "messages_in" VALUES('weather-note-e33e',2,'task','2026-11-20T18:00:00.457Z','completed','2026-11-21T07:00:00.000Z',NULL,'weather-note-e33e',0,1,NULL,NULL,NULL,'{"prompt":"Tell Dana the weather of the day.","script":null,"originSessionId":"sess-1795197600115-7pgpax"}',NULL,0);
INSERT INTO "messages_in" VALUES('task-1795244420163-kt7c4s',4,'task','2026-11-21T07:00:20.163Z','completed','2026-11-22T07:00:00.000Z',NULL,'weather-note-e33e',0,1,NULL,NULL,NULL,'{"prompt":"Tell Dana the weather of the day.","script":null,"originSessionId":"sess-1795197600115-7pgpax"}',NULL,0);
INSERT INTO "messages_in" VALUES('task-1795330820155-ni6gz8',6,'task','2026-11-22T07:00:20.155Z','pending','2026-11-23T07:00:00.000Z','0 7 * * *','weather-note-e33e',0,1,NULL,NULL,NULL,'{"prompt":"Tell Dana the weather of the day.","script":null,"originSessionId":"sess-1795197600115-7pgpax"}',NULL,0);
CREATE TABLE session_routing (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  channel_type TEXT,
  platform_id  TEXT,
  thread_id    TEXT
);
INSERT INTO "session_routing" VALUES(1,NULL,NULL,'system:tasks:weather-note-e33e');
CREATE INDEX idx_messages_in_series ON messages_in(series_id);
COMMIT;
