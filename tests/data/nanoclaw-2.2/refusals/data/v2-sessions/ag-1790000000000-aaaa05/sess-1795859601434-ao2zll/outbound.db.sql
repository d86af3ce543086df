INSERT INTO "messages_out" VALUES('msg-a1',3,'tg-1','2026-11-28T09:53:21.833Z',NULL,NULL,'chat','ag-1790000000000-bbbb05','agent',NULL,'{"text":"When does the library close today?"}');
INSERT INTO "messages_out" VALUES('msg-a2',5,'tg-2','2026-11-28T09:53:22.634Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"Closed tomorrow."}');
INSERT INTO "messages_out" VALUES('msg-a4',7,'tg-3','2026-11-28T09:53:22.765Z',NULL,NULL,'chat','telegram:100','telegram',NULL,'{"text":"Here."}');
INSERT INTO "processing_ack" VALUES('tg-1','completed','2026-11-28T09:53:21.858Z');
INSERT INTO "processing_ack" VALUES('tg-2','completed','2026-11-28T09:53:22.644Z');
INSERT INTO "processing_ack" VALUES('tg-3','completed','2026-11-28T09:53:22.786Z');
INSERT INTO "session_state" VALUES('continuation:claude','55555555-5555-4555-8555-555555555551','2026-11-28T09:53:22.790Z');
