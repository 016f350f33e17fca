CREATE TABLE IF NOT EXISTS delayqueue_journal (
  revision BIGINT AUTO_INCREMENT PRIMARY KEY,
  namespace VARCHAR(64) NOT NULL,
  queue_name VARCHAR(128) NOT NULL,
  message_id VARCHAR(128) NOT NULL,
  operation CHAR(1) NOT NULL,
  on_duplicate VARCHAR(16),
  due_millis BIGINT,
  due_relative BOOLEAN NOT NULL,
  recorded_at BIGINT NOT NULL,
  priority SMALLINT,
  ttl_millis BIGINT,
  group_name VARCHAR(128),
  envelope LONGBLOB,
  accepted BOOLEAN NOT NULL,
  checks SMALLINT NOT NULL,
  claimed_by VARCHAR(36) NOT NULL,
  claimed_until BIGINT NOT NULL,
  failures INTEGER DEFAULT 0 NOT NULL,
  retry_millis BIGINT,
  INDEX delayqueue_journal_message (namespace, queue_name, message_id, revision),
  INDEX delayqueue_journal_claim (accepted, namespace, claimed_until)
) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin;
CREATE TABLE IF NOT EXISTS delayqueue_journal_identity (
  namespace VARCHAR(64) PRIMARY KEY,
  identity VARCHAR(36) NOT NULL,
  committed_at BIGINT NOT NULL,
  maintainer VARCHAR(36) NOT NULL
) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin;
CREATE TABLE IF NOT EXISTS delayqueue_dead_letter (
  namespace VARCHAR(64) NOT NULL,
  queue_name VARCHAR(128) NOT NULL,
  dead_letter_id VARCHAR(160) NOT NULL,
  message_id VARCHAR(128) NOT NULL,
  partition_number SMALLINT NOT NULL,
  content LONGBLOB NOT NULL,
  PRIMARY KEY (namespace, queue_name, dead_letter_id)
) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin;
CREATE TABLE IF NOT EXISTS delayqueue_handled (
  revision BIGINT NOT NULL,
  namespace VARCHAR(64) NOT NULL,
  queue_name VARCHAR(128) NOT NULL,
  message_id VARCHAR(128) NOT NULL,
  handled_at BIGINT NOT NULL,
  PRIMARY KEY (revision, namespace, queue_name, message_id),
  INDEX delayqueue_handled_age (namespace, handled_at)
) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin;
CREATE TABLE IF NOT EXISTS delayqueue_ended (
  batch BIGINT AUTO_INCREMENT PRIMARY KEY,
  namespace VARCHAR(64) NOT NULL,
  queue_name VARCHAR(128) NOT NULL,
  recorded_at BIGINT NOT NULL,
  revisions BLOB NOT NULL,
  INDEX delayqueue_ended_age (namespace, recorded_at)
) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin;
CREATE TABLE IF NOT EXISTS delayqueue_history (
  entry BIGINT AUTO_INCREMENT PRIMARY KEY,
  namespace VARCHAR(64) NOT NULL,
  queue_name VARCHAR(128) NOT NULL,
  message_id VARCHAR(128) NOT NULL,
  occurred_at BIGINT NOT NULL,
  node VARCHAR(128) CHARACTER SET utf8mb4 NOT NULL,
  event VARCHAR(16) NOT NULL,
  attempt INTEGER,
  detail VARCHAR(500) CHARACTER SET utf8mb4,
  INDEX delayqueue_history_message (namespace, queue_name, message_id, occurred_at),
  INDEX delayqueue_history_age (namespace, occurred_at)
) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin;
