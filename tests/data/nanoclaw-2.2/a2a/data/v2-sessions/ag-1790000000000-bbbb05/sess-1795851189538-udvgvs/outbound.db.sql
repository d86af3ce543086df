INSERT INTO "messages_out" VALUES('msg-b1',3,'a2a-1795851189632-2alwwk','2026-11-28T07:33:09.695Z',NULL,NULL,'chat','ag-1790000000000-aaaa05','agent',NULL,'{"text":"At 18:00."}');
INSERT INTO "messages_out" VALUES('msg-b2',5,'a2a-1795851189907-peec3f','2026-11-28T07:33:09.955Z',NULL,NULL,'chat','ag-1790000000000-aaaa05','agent',NULL,'{"text":"Tomorrow it is closed."}');
INSERT INTO "processing_ack" VALUES('a2a-1795851189632-2alwwk','completed','2026-11-28T07:33:09.700Z');
INSERT INTO "processing_ack" VALUES('a2a-1795851189907-peec3f','completed','2026-11-28T07:33:09.961Z');
INSERT INTO "session_state" VALUES('continuation:claude','55555555-5555-4555-8555-555555555552','2026-11-28T07:33:09.974Z');
