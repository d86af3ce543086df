INSERT INTO "messages_out" VALUES('msg-1',3,'tg-1','2026-11-28T07:33:05.154Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"One moment, I look it up."}');
INSERT INTO "messages_out" VALUES('msg-2',5,'tg-1','2026-11-28T07:33:05.185Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"It is on 12 June at 15:00."}');
INSERT INTO "processing_ack" VALUES('tg-1','completed','2026-11-28T07:33:05.201Z');
INSERT INTO "session_state" VALUES('continuation:claude','11111111-1111-4111-8111-111111111111','2026-11-28T07:33:05.210Z');
