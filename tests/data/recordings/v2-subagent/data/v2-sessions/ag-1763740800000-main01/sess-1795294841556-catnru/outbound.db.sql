CREATE TABLE messages_out ( id TEXT PRIMARY KEY, seq INTEGER UNIQUE, in_reply_to TEXT, timestamp TEXT NOT NULL, deliver_after TEXT, recurrence TEXT, kind TEXT NOT NULL, platform_id TEXT, channel_type TEXT, thread_id TEXT, content TEXT NOT NULL );
INSERT INTO messages_out (id, seq, in_reply_to, timestamp, deliver_after, recurrence, kind, platform_id, channel_type, thread_id, content) VALUES ('msg-1795294848136-i8c6z6', 3, '5550100:41:ag-1763740800000-main01', '2026-11-21 21:00:48', NULL, NULL, 'chat', 'telegram:5550100', 'telegram', NULL, '{"text":"Your notes contain alpha and beta."}');
CREATE TABLE processing_ack ( message_id TEXT PRIMARY KEY, status TEXT NOT NULL, status_changed TEXT NOT NULL );
INSERT INTO processing_ack (message_id, status, status_changed) VALUES ('5550100:41:ag-1763740800000-main01', 'completed', '2026-11-21 21:00:48');
CREATE TABLE session_state ( key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL );
INSERT INTO session_state (key, value, updated_at) VALUES ('continuation:claude', 'c762c57e-d901-4ae7-be24-fe9c095893dc', '2026-11-21T21:00:47.427Z');
