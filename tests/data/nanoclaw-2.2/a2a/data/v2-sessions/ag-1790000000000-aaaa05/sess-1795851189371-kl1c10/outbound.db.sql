INSERT INTO "messages_out" VALUES('msg-a1',3,'tg-1','2026-11-28T07:33:09.496Z',NULL,NULL,'chat','ag-1790000000000-bbbb05','agent',NULL,'{"text":"When does the library close today?"}');
INSERT INTO "messages_out" VALUES('msg-a2',5,'a2a-1795851189762-2i556t','2026-11-28T07:33:09.790Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"The library closes at 18:00."}');
INSERT INTO "messages_out" VALUES('msg-a3',7,'tg-2','2026-11-28T07:33:09.867Z',NULL,NULL,'chat','ag-1790000000000-bbbb05','agent',NULL,'{"text":"And tomorrow?"}');
INSERT INTO "processing_ack" VALUES('tg-1','completed','2026-11-28T07:33:09.518Z');
INSERT INTO "processing_ack" VALUES('a2a-1795851189762-2i556t','completed','2026-11-28T07:33:09.798Z');
INSERT INTO "processing_ack" VALUES('tg-2','completed','2026-11-28T07:33:09.875Z');
INSERT INTO "session_state" VALUES('continuation:claude','55555555-5555-4555-8555-555555555551','2026-11-28T07:33:09.876Z');
