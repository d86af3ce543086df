INSERT INTO "messages_out" VALUES('msg-b1',3,'a2a-1795859602201-fdagjc','2026-11-28T09:53:22.347Z',NULL,NULL,'chat','ag-1790000000000-aaaa05','agent',NULL,'{"text":"At 18:00."}');
INSERT INTO "processing_ack" VALUES('a2a-1795859602201-fdagjc','completed','2026-11-28T09:53:22.383Z');
INSERT INTO "processing_ack" VALUES('appr-note-1795859602509-ruia8e','completed','2026-11-28T09:53:22.545Z');
INSERT INTO "session_state" VALUES('continuation:claude','55555555-5555-4555-8555-555555555552','2026-11-28T09:53:22.557Z');
