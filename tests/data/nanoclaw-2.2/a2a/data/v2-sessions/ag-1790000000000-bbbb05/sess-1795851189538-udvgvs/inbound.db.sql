INSERT INTO "delivered" VALUES('msg-b1',NULL,'delivered','2026-11-28T07:33:09.730Z');
INSERT INTO "delivered" VALUES('msg-b2',NULL,'delivered','2026-11-28T07:33:09.997Z');
INSERT INTO "destinations" VALUES('andy','Andy','agent',NULL,NULL,'ag-1790000000000-aaaa05');
INSERT INTO "messages_in" VALUES('a2a-1795851189632-2alwwk',2,'chat','2026-11-28T07:33:09.632Z','completed',NULL,NULL,'a2a-1795851189632-2alwwk',0,1,'ag-1790000000000-aaaa05','agent',NULL,'{"text":"When does the library close today?"}','sess-1795851189371-kl1c10',0);
INSERT INTO "messages_in" VALUES('a2a-1795851189907-peec3f',4,'chat','2026-11-28T07:33:09.907Z','completed',NULL,NULL,'a2a-1795851189907-peec3f',0,1,'ag-1790000000000-aaaa05','agent',NULL,'{"text":"And tomorrow?"}','sess-1795851189371-kl1c10',0);
INSERT INTO "session_routing" VALUES(1,NULL,NULL,NULL);
