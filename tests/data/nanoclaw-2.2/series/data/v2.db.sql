INSERT INTO "agent_destinations" VALUES('ag-1790000000000-aaaa02','dana','channel','mg-1','2026-11-20T18:00:00.111Z');
INSERT INTO "agent_groups" VALUES('ag-1790000000000-aaaa02','Andy','family',NULL,'2026-11-20T18:00:00.105Z');
INSERT INTO "container_configs" VALUES('ag-1790000000000-aaaa02',NULL,NULL,NULL,NULL,NULL,NULL,'"all"','{}','[]','[]','[]','2026-11-20T18:00:00.109Z','group',NULL);
INSERT INTO "messaging_groups" VALUES('mg-1','telegram','telegram:100','telegram','Dana',0,'strict','2026-11-20T18:00:00.110Z',NULL,NULL);
INSERT INTO "sessions" VALUES('sess-1795197600115-7pgpax','ag-1790000000000-aaaa02','mg-1',NULL,NULL,'active','stopped','2026-11-22T07:00:20.141Z','2026-11-20T18:00:00.115Z');
INSERT INTO "sessions" VALUES('sess-1795197600327-ardtto','ag-1790000000000-aaaa02',NULL,'system:tasks:weather-note-e33e',NULL,'active','stopped',NULL,'2026-11-20T18:00:00.327Z');
