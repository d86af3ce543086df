CREATE TABLE messages_out ( id TEXT PRIMARY KEY, seq INTEGER UNIQUE, in_reply_to TEXT, timestamp TEXT NOT NULL, deliver_after TEXT, recurrence TEXT, kind TEXT NOT NULL, platform_id TEXT, channel_type TEXT, thread_id TEXT, content TEXT NOT NULL );
CREATE TABLE processing_ack ( message_id TEXT PRIMARY KEY, status TEXT NOT NULL, status_changed TEXT NOT NULL );
INSERT INTO processing_ack (message_id, status, status_changed) VALUES ('5550100:41:ag-1763740800000-main01', 'processing', '2026-11-21 20:54:11');
CREATE TABLE session_state ( key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL );
INSERT INTO session_state (key, value, updated_at) VALUES ('continuation:claude', 'e3f17180-83bb-4e7f-a66c-acb975ad8fde', '2026-11-21T20:54:12.494Z');
