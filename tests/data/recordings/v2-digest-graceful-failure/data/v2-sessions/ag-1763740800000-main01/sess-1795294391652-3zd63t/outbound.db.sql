CREATE TABLE messages_out ( id TEXT PRIMARY KEY, seq INTEGER UNIQUE, in_reply_to TEXT, timestamp TEXT NOT NULL, deliver_after TEXT, recurrence TEXT, kind TEXT NOT NULL, platform_id TEXT, channel_type TEXT, thread_id TEXT, content TEXT NOT NULL );
INSERT INTO messages_out (id, seq, in_reply_to, timestamp, deliver_after, recurrence, kind, platform_id, channel_type, thread_id, content) VALUES ('msg-1795294394354-zaxmcc', 3, 'task-1763740800000-dig001', '2026-11-21 20:53:14', NULL, NULL, 'chat', 'telegram:5550100', 'telegram', NULL, '{"text":"I couldn''t build today''s digest: the search service timed out twice. I''ll try again tomorrow at 9:00."}');
CREATE TABLE processing_ack ( message_id TEXT PRIMARY KEY, status TEXT NOT NULL, status_changed TEXT NOT NULL );
INSERT INTO processing_ack (message_id, status, status_changed) VALUES ('task-1763740800000-dig001', 'completed', '2026-11-21 20:53:14');
CREATE TABLE session_state ( key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL );
INSERT INTO session_state (key, value, updated_at) VALUES ('continuation:claude', '3472ce97-e5e1-492e-bc34-b11c8fc7b291', '2026-11-21T20:53:13.851Z');
