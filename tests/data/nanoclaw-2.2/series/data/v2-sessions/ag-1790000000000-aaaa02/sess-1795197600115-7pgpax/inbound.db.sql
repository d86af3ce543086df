BEGIN TRANSACTION;
CREATE TABLE delivered (
  message_out_id      TEXT PRIMARY KEY,
  platform_message_id TEXT,
  status              TEXT NOT NULL DEFAULT 'delivered',
  delivered_at        TEXT NOT NULL
);
INSERT INTO "delivered" VALUES('cli-1',NULL,'delivered','2026-11-20T18:00:00.481Z');
INSERT INTO "delivered" VALUES('msg-1','100:1','delivered','2026-11-20T18:00:00.563Z');
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
INSERT INTO "messages_in" VALUES('tg-1',2,'chat','2026-11-20T18:00:00.276Z','completed',NULL,NULL,'tg-1',0,1,'telegram:100','telegram',NULL,'{"text":"Tell me the weather each morning at seven.","sender":"Dana","senderId":"telegram:100"}',NULL,0);
INSERT INTO "messages_in" VALUES('cli-resp-cli-1',4,'system','2026-11-20T18:00:00.467Z','pending',NULL,NULL,'cli-resp-cli-1',0,0,NULL,NULL,NULL,'{"type":"cli_response","requestId":"cli-1","frame":{"id":"cli-1","ok":true,"data":{"agent_group_id":"ag-1790000000000-aaaa02","session_id":"sess-1795197600327-ardtto","series_id":"weather-note-e33e","row_id":"weather-note-e33e","status":"pending","process_after":"2026-11-21T07:00:00.000Z","recurrence":"0 7 * * *","prompt":"Tell Dana the weather of the day.","has_script":0,"origin_session_id":"sess-1795197600115-7pgpax","created_at":"2026-11-20T18:00:00.457Z","tries":0}}}',NULL,0);
INSERT INTO "messages_in" VALUES('msg-t1:echo:sess-1795197600115-7pgpax',6,'chat','2026-11-21T07:00:20.120Z','pending',NULL,NULL,'msg-t1:echo:sess-1795197600115-7pgpax',0,0,'telegram:100','session-echo',NULL,'{"text":"Sunny, 21 degrees.","sender":"Andy","senderId":"ag-1790000000000-aaaa02","echo":{"surface":"task-delivery","label":"this DM, posted by your scheduled task"}}','sess-1795197600327-ardtto',0);
INSERT INTO "messages_in" VALUES('msg-t2:echo:sess-1795197600115-7pgpax',8,'chat','2026-11-22T07:00:20.122Z','pending',NULL,NULL,'msg-t2:echo:sess-1795197600115-7pgpax',0,0,'telegram:100','session-echo',NULL,'{"text":"Rain, 12 degrees.","sender":"Andy","senderId":"ag-1790000000000-aaaa02","echo":{"surface":"task-delivery","label":"this DM, posted by your scheduled task"}}','sess-1795197600327-ardtto',0);
CREATE TABLE session_routing (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  channel_type TEXT,
  platform_id  TEXT,
  thread_id    TEXT
);
INSERT INTO "session_routing" VALUES(1,'telegram','telegram:100',NULL);
CREATE INDEX idx_messages_in_series ON messages_in(series_id);
COMMIT;
