INSERT INTO "agent_destinations" VALUES('ag-1790000000000-aaaa01','dana','channel','mg-1','2026-11-28T07:33:05.038Z');
INSERT INTO "agent_groups" VALUES('ag-1790000000000-aaaa01','Andy','family',NULL,'2026-11-28T07:33:05.033Z');
INSERT INTO "container_configs" VALUES('ag-1790000000000-aaaa01',NULL,NULL,NULL,NULL,NULL,NULL,'"all"','{}','[]','[]','[]','2026-11-28T07:33:05.035Z','group',NULL);
INSERT INTO "messaging_groups" VALUES('mg-1','telegram','telegram:100','telegram','Dana',0,'strict','2026-11-28T07:33:05.036Z',NULL,NULL);
INSERT INTO "sessions" VALUES('sess-1795851185043-i0ey9w','ag-1790000000000-aaaa01','mg-1',NULL,NULL,'active','stopped','2026-11-28T07:33:05.138Z','2026-11-28T07:33:05.043Z');
