/*
 * The store's statements, a row each: S(NAME, text).
 */
S(BEGIN, "BEGIN IMMEDIATE")
S(COMMIT, "COMMIT")
S(ROLLBACK, "ROLLBACK")
S(SEEN, "SELECT 1 FROM seen WHERE session = ? AND seq = ?")
S(MARK_SEEN, "INSERT INTO seen VALUES (?, ?, ?)")
S(FORGET_SEEN, "DELETE FROM seen WHERE at_ms < ?")
S(ADD_ACCOUNTING,
    "UPDATE accounting SET batches = batches + 1, taken = taken + ?, mapped = mapped + ?,"
    " stale = stale + ?, dropped = dropped + ?, kernel = kernel + ?,"
    " no_build_id = no_build_id + ?, no_artifact = no_artifact + ?, no_block = no_block + ?")
S(GET_ACCOUNTING,
    "SELECT batches, taken, mapped, stale, dropped, kernel, no_build_id, no_artifact, no_block"
    " FROM accounting")
S(PUT_MODULE,
    "INSERT INTO modules VALUES "
    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
    " ON CONFLICT (id) DO UPDATE SET uid = excluded.uid, state = excluded.state,"
    " text = excluded.text, artifact = excluded.artifact, current = excluded.current,"
    " origin = excluded.origin, last_ms = excluded.last_ms, layout_ms = excluded.layout_ms,"
    " held_until_ms = excluded.held_until_ms, held_why = excluded.held_why,"
    " mapped = excluded.mapped, stale = excluded.stale, outside = excluded.outside,"
    " outside_aged = excluded.outside_aged, outside_ms = excluded.outside_ms,"
    " predicted = excluded.predicted, gain = excluded.gain,"
    " taken_before = excluded.taken_before, taken_after = excluded.taken_after,"
    " predicted_ms = excluded.predicted_ms, samples = excluded.samples,"
    " samples_ms = excluded.samples_ms, fetch_ms = excluded.fetch_ms,"
    " fetch_tries = excluded.fetch_tries, fetch_why = excluded.fetch_why,"
    " gain_low = excluded.gain_low, gain_high = excluded.gain_high,"
    " gain_missed = excluded.gain_missed, gain_samples = excluded.gain_samples,"
    " squares = excluded.squares, lift_why = excluded.lift_why, list = excluded.list")
S(GET_MODULES,
    "SELECT id, path, uid, state, text, artifact, current, origin, first_ms, last_ms,"
    " layout_ms, held_until_ms, held_why, mapped, stale, outside, outside_aged, outside_ms,"
    " predicted, gain, taken_before, taken_after, predicted_ms, samples, samples_ms,"
    " fetch_ms, fetch_tries, fetch_why, gain_low, gain_high, gain_missed, gain_samples,"
    " squares, lift_why, list FROM modules WHERE ?1 = 0 OR id = ?1 ORDER BY mapped DESC, path")
S(PUT_BUILD, "INSERT OR REPLACE INTO builds VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
S(SET_BUILD_STATE, "UPDATE builds SET state = ?3 WHERE module = ?1 AND id = ?2")
S(GET_BUILDS, "SELECT id, origin, kind, state, made_ms, bytes, NULL FROM builds WHERE module = ?"
	      " ORDER BY made_ms DESC, rowid DESC")
S(GET_BUILD, "SELECT id, origin, kind, state, made_ms, bytes, map FROM builds WHERE module = ?"
	     " AND id = ?")
S(DROP_MODULE, "DELETE FROM modules WHERE id = ?")
S(PRUNE_BUILDS,
    "DELETE FROM builds WHERE module = ?1 AND state = ?2 AND rowid NOT IN (SELECT rowid"
    " FROM builds WHERE module = ?1 AND state = ?2 ORDER BY made_ms DESC, rowid DESC LIMIT ?3)")
S(DROP_BUILDS, "DELETE FROM builds WHERE module = ?")
S(DROP_TABLES, "DELETE FROM tables WHERE module = ?")
S(DROP_PROFILE, "DELETE FROM profile WHERE module = ?")
S(DROP_DECISIONS, "DELETE FROM decisions WHERE module = ?")
S(DROP_RUNGS, "DELETE FROM rungs WHERE module = ?")
S(DROP_TRIAL, "DELETE FROM trials WHERE module = ?")
S(DROP_GAINS, "DELETE FROM gains WHERE module = ?")
S(PUT_GAIN, "INSERT INTO gains VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
S(PRUNE_GAINS,
    "DELETE FROM gains WHERE module = ?1 AND id NOT IN (SELECT id FROM gains WHERE module = ?1"
    " ORDER BY id DESC LIMIT ?2)")
S(GET_GAINS, "SELECT * FROM gains ORDER BY id")
S(PUT_TRIAL, "INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
S(GET_TRIALS,
    "SELECT module, old, new, began_ms, ended_ms, verdict, promised, model, data FROM trials")
S(DROP_EVENTS, "DELETE FROM events WHERE module = ?")
S(PRUNE_TABLES, "DELETE FROM tables WHERE module = ?1 AND origin NOT IN (SELECT origin FROM builds"
		" WHERE module = ?1)")
S(PUT_TABLE, "INSERT OR REPLACE INTO tables VALUES (?, ?, ?)")
S(GET_TABLE, "SELECT data FROM tables WHERE module = ? AND origin = ?")
S(FIND_TABLE, "SELECT rowid FROM tables WHERE module = ? AND origin = ? AND length(data) = ?")
S(GET_PROFILE, "SELECT key, name, tu, opaque, as_of_ms, blocks, edges, calls FROM profile"
	       " WHERE module = ? AND kind = ? ORDER BY key")
S(PUT_PROFILE, "INSERT OR REPLACE INTO profile VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
S(CLEAR_PROFILE, "DELETE FROM profile WHERE module = ? AND kind = ?")
S(LAST_DECISION,
    "SELECT d.id, d.module, m.path, d.first_ms, d.last_ms, d.times, d.verdict, d.rung, d.text"
    " FROM decisions d JOIN modules m ON m.id = d.module WHERE d.module = ? ORDER BY d.id DESC"
    " LIMIT 1")
S(REPEAT_DECISION, "UPDATE decisions SET last_ms = ?, times = times + 1, text = ? WHERE id = ?")
S(NEW_DECISION, "INSERT INTO decisions VALUES (NULL, ?1, ?2, ?2, 1, ?3, ?4, ?5)")
S(PRUNE_DECISIONS, "DELETE FROM decisions WHERE module = ?1 AND id <= (SELECT id FROM decisions"
		   " WHERE module = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)")
S(PUT_RUNG, "INSERT OR REPLACE INTO rungs VALUES (?, ?, ?, ?, ?, ?, ?)")
S(GET_RUNGS, "SELECT rung, outcome, numbers, value, bound, text FROM rungs WHERE module = ?")
S(GET_DECISIONS,
    "SELECT d.id, d.module, m.path, d.first_ms, d.last_ms, d.times, d.verdict, d.rung, d.text"
    " FROM decisions d JOIN modules m ON m.id = d.module WHERE (?1 = 0 OR d.module = ?1)"
    " AND (?2 < 0 OR m.uid = ?2) ORDER BY d.last_ms DESC, d.id DESC LIMIT ?3")
S(PUT_EVENT, "INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
S(PRUNE_EVENTS,
    "DELETE FROM events WHERE module = ?1 AND id <= (SELECT id FROM events WHERE module = ?1"
    " ORDER BY id DESC LIMIT 1 OFFSET ?2)")
S(GET_EVENTS, "SELECT e.module, m.path, e.at_ms, e.kind, e.\"from\", e.\"to\", e.change, e.text,"
	      " e.samples, e.gain, e.seconds, e.size_before, e.size_after, m.uid FROM events e"
	      " JOIN modules m ON m.id = e.module WHERE (?1 = 0 OR e.module = ?1)"
	      " AND (?2 < 0 OR m.uid = ?2) ORDER BY e.id DESC LIMIT ?3")
S(COUNT_EVENTS,
    "SELECT count(*) FROM events WHERE (?1 = 0 OR module = ?1) AND kind = ?2 AND at_ms >= ?3"
    " AND (?4 < 0 OR (SELECT uid FROM modules WHERE id = module) = ?4)")
S(PUT_ADDRESS_BATCH, "INSERT INTO address_batches VALUES (NULL, ?, ?, ?, ?)")
S(GET_ADDRESS_BATCHES,
    "SELECT id, at_ms, period_ns, data, calls FROM address_batches ORDER BY id LIMIT ?")
S(DROP_ADDRESS_BATCH, "DELETE FROM address_batches WHERE id = ?")
S(COUNT_ADDRESS_BATCHES, "SELECT count(*), coalesce(sum(length(data) + length(calls)), 0), "
			 "min(at_ms) FROM address_batches")
S(PUT_ADDRESS_FILE, "INSERT OR IGNORE INTO address_files VALUES (?, ?, ?, ?, ?, ?, 0)")
S(GET_ADDRESS_FILE,
    "SELECT f.kind, f.uid, f.pid, f.build, f.path, m.id, m.uid, b.origin FROM address_files f"
    " LEFT JOIN modules m ON f.kind = 0 AND m.path = f.path"
    " LEFT JOIN builds b ON b.module = m.id AND b.id = f.build"
    " WHERE f.id = ?1 AND (?2 < 0 OR f.uid = ?2 OR f.kind IN (1, 5, 6))")
S(USE_ADDRESS_FILE, "UPDATE address_files SET periods = periods + ?2 WHERE id = ?1")
S(ADDRESS_FILE_OWNER, "SELECT uid, length(path) + length(build) FROM address_files WHERE id = ?")
S(ADDRESS_FILES_OF_BUILD, "SELECT id FROM address_files WHERE kind = ? AND build = ? AND path = ?")
S(DROP_ADDRESS_FILE, "DELETE FROM address_files WHERE id = ? AND periods <= 0")
S(DROP_ADDRESS_FILES, "DELETE FROM address_files WHERE periods <= 0"
		      " AND NOT EXISTS (SELECT 1 FROM address_batches)")
S(ADDRESS_FILES_OF, "SELECT uid, count(*), sum(length(path) + length(build)) FROM address_files"
		    " GROUP BY uid")
S(ADDRESSES_OF, "SELECT f.uid, count(*), sum(a.bytes) FROM addresses a"
		" JOIN address_files f ON f.id = a.file GROUP BY f.uid")
S(NEW_ADDRESSES, "INSERT INTO addresses VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)")
S(CHANGE_ADDRESSES, "UPDATE addresses SET samples = ?2, ns = ?3, bytes = ?4, data = ?5, calls = ?6"
		    " WHERE id = ?1")
S(GET_ADDRESSES,
    "SELECT id, samples, ns, bytes, data, calls FROM addresses WHERE span = ? AND begin_s = ?"
    " AND file = ?")
S(DROP_ADDRESSES, "DELETE FROM addresses WHERE id = ?")
S(OLDEST_ADDRESSES,
    "SELECT begin_s, file, id, bytes FROM addresses WHERE span = ?1 AND begin_s < ?2"
    " ORDER BY begin_s, file LIMIT ?3")
S(USERS_ADDRESSES,
    "SELECT a.id, a.begin_s, a.file, a.bytes FROM addresses a JOIN address_files f ON f.id = a.file"
    " WHERE a.span = ?1 AND f.uid = ?2 ORDER BY a.begin_s, a.bytes DESC LIMIT ?3")
S(GET_ADDRESS_ROW, "SELECT samples, ns, bytes, data FROM addresses WHERE id = ?")
S(SUM_ADDRESSES, "SELECT file, sum(samples), sum(ns) FROM addresses WHERE span = ?1"
		 " AND begin_s > ?2 AND begin_s < ?3 AND (?4 = 0 OR file = ?4) GROUP BY file")
S(FIRST_PERIOD, "SELECT min(begin_s) FROM addresses WHERE span = ?1 AND begin_s > ?2"
		" AND begin_s < ?3")
S(LAST_PERIOD, "SELECT max(begin_s) FROM addresses WHERE span = ?1 AND begin_s > ?2"
	       " AND begin_s < ?3")
