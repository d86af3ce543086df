INSERT INTO "delivered" VALUES('msg-b1',NULL,'delivered','2026-11-28T09:53:22.457Z');
INSERT INTO "destinations" VALUES('andy','Andy','agent',NULL,NULL,'ag-1790000000000-aaaa05');
INSERT INTO "messages_in" VALUES('a2a-1795859602201-fdagjc',2,'chat','2026-11-28T09:53:22.201Z','completed',NULL,NULL,'a2a-1795859602201-fdagjc',0,1,'ag-1790000000000-aaaa05','agent',NULL,'{"text":"When does the library close today?"}','sess-1795859601434-ao2zll',0);
INSERT INTO "messages_in" VALUES('appr-note-1795859602509-ruia8e',4,'chat','2026-11-28T09:53:22.509Z','completed',NULL,NULL,'appr-note-1795859602509-ruia8e',0,1,'ag-1790000000000-bbbb05','agent',NULL,'{"text":"Your a2a_message_gate request was rejected by admin.","sender":"system","senderId":"system"}',NULL,0);
INSERT INTO "session_routing" VALUES(1,NULL,NULL,NULL);
