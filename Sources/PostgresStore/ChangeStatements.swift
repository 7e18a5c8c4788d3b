internal import PaymentCore
internal import Reconciler
internal import StoreRows

/// A group of changes as few statements, each with an array for each column. Those that must touch as many rows as they
/// have members end with an error that names those who were not written.
enum ChangeStatements {
    /// One transaction.
    static func group(
        _ changes: [PreparedChange], _ answers: [PreparedAnswer] = [], now: Parameter, under term: TermCheck
    ) -> [Statement] {
        let new = changes.filter(\.isNew)
        let old = changes.filter { !$0.isNew }
        let keyed = changes.filter { $0.record != nil }
        var statements = [Statement("BEGIN"), term.statement]
        if !keyed.isEmpty { statements.append(keys(keyed)) }
        if !new.isEmpty { statements.append(insert(new, now)) }
        if !old.isEmpty { statements.append(update(old)) }
        if !changes.isEmpty { statements += [legs(changes), effects(changes)] }
        let mayWait = changes.filter { !$0.isNew || !$0.waiting.isEmpty }
        if !mayWait.isEmpty { statements.append(waiting(mayWait)) }
        if changes.contains(where: { !$0.events.isEmpty }) { statements.append(events(changes)) }
        let repairs = changes.compactMap(\.repair)
        let (decided, proposed) = (repairs.filter(\.isDecided), repairs.filter { !$0.isDecided })
        if !proposed.isEmpty { statements.append(propose(proposed)) }
        if !decided.isEmpty { statements.append(decide(decided)) }
        let webhooks = changes.compactMap(\.webhook)
        let (raised, forgotten) = (webhooks.filter { $0.reported != nil }, webhooks.filter { $0.reported == nil })
        if !raised.isEmpty { statements.append(WebhookStatements.raise(raised)) }
        if !forgotten.isEmpty { statements.append(WebhookStatements.forget(forgotten)) }
        if !answers.isEmpty { statements.append(keep(answers)) }
        return statements + [Statement("COMMIT")]
    }

    private static func insert(_ changes: [PreparedChange], _ now: Parameter) -> Statement {
        let holders: [(name: String, span: Int64)] = changes.map { change in
            guard case .creating(let holder, let span) = change.lease else { return (name: "", span: 0) }
            return (name: holder, span: span.milliseconds)
        }
        let payments = changes.map(\.payment)
        return Statement(
            """
            WITH written AS (
                INSERT INTO payments (id, caller, key, state, latch, reference, amount, currency, created_at,
                    updated_at, version, due_at, due_provider, lease_holder, lease_token, lease_until, audit_seq,
                    audit_hash, document, booked_version)
                SELECT id, caller, key, state, latch, reference, amount, currency, created_at, updated_at, version,
                    due_at, due_provider, holder, 1, \(DatabaseClock.now(19)) + span, audit_seq, audit_hash, document,
                    version
                FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
                    $8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[], $14::text[],
                    $15::bigint[], $16::bigint[], $17::text[], $18::text[])
                    AS new (id, caller, key, state, latch, reference, amount, currency, created_at, updated_at, version,
                        due_at, due_provider, holder, span, audit_seq, audit_hash, document)
                ORDER BY id
                ON CONFLICT (id) DO NOTHING RETURNING id
            ) SELECT require_all($1::text[], array_agg(id)) FROM written
            """,
            [
                .texts(changes.map(\.id)), .texts(payments.map(\.caller.name)), .texts(payments.map(\.key.text)),
                .texts(payments.map(\.state.rawValue)), .texts(payments.map(\.latch.rawValue)),
                .texts(payments.map(\.reference)), .ints(payments.map(\.amount.value)),
                .texts(payments.map(\.amount.currency.code)), .ints(payments.map(\.createdAt.milliseconds)),
                .ints(payments.map(\.updatedAt.milliseconds)), .ints(payments.map(\.version)),
                .ints(payments.map { $0.dueAt?.milliseconds }), .texts(payments.map { $0.dueProvider?.name ?? "" }),
                .texts(holders.map(\.name)), .ints(holders.map(\.span)), .ints(payments.map(\.auditHead.sequence)),
                .texts(payments.map(\.auditHead.hash.hex)), .texts(changes.map(\.document)), now,
            ])
    }

    private static func update(_ changes: [PreparedChange]) -> Statement {
        let payments = changes.map(\.payment)
        return Statement(
            """
            WITH change AS (
                SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::boolean[], $5::bigint[], $6::text[],
                    $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::bigint[], $13::text[],
                    $14::text[])
                    AS change (id, read_version, token, ends, head_seq, head_hash, state, latch, updated_at, due_at,
                        due_provider, audit_seq, audit_hash, document)
            ), locked AS (
                -- In one order, so that two groups never wait for each other.
                SELECT id FROM payments WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE
            ), written AS (
                UPDATE payments AS p SET state = change.state, latch = change.latch, updated_at = change.updated_at,
                    version = change.read_version + 1, booked_version = change.read_version + 1,
                    due_at = change.due_at, due_provider = change.due_provider,
                    audit_seq = change.audit_seq, audit_hash = change.audit_hash, document = change.document,
                    lease_holder = CASE WHEN change.ends THEN NULL ELSE p.lease_holder END,
                    lease_until = CASE WHEN change.ends THEN NULL ELSE p.lease_until END
                FROM change JOIN locked USING (id)
                WHERE p.id = change.id AND p.version = change.read_version AND p.audit_seq = change.head_seq
                    AND p.audit_hash = change.head_hash
                    AND (change.token IS NULL OR (p.lease_holder IS NOT NULL AND p.lease_token = change.token))
                RETURNING p.id
            ) SELECT require_all($1::text[], array_agg(id)) FROM written
            """,
            [
                .texts(changes.map(\.id)), .ints(changes.map(\.readVersion)), .ints(changes.map(\.token)),
                .bools(changes.map(\.ends)), .ints(changes.map(\.headBefore.sequence)),
                .texts(changes.map(\.headBefore.hash.hex)), .texts(payments.map(\.state.rawValue)),
                .texts(payments.map(\.latch.rawValue)), .ints(payments.map(\.updatedAt.milliseconds)),
                .ints(payments.map { $0.dueAt?.milliseconds }), .texts(payments.map { $0.dueProvider?.name ?? "" }),
                .ints(payments.map(\.auditHead.sequence)), .texts(payments.map(\.auditHead.hash.hex)),
                .texts(changes.map(\.document)),
            ])
    }

    private static func legs(_ changes: [PreparedChange]) -> Statement {
        let rows = changes.flatMap { change in change.legs.map { (change.id, $0) } }
        return Statement(
            """
            INSERT INTO legs AS known (payment_id, leg, provider, first_at_provider, amount, captured, status, standing,
                created_at, key, currency, refunds, stands, work, asked_at)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::boolean[], $5::bigint[], $6::bigint[],
                $7::text[], $8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
                $15::bigint[])
            ON CONFLICT (payment_id, leg) DO UPDATE
            SET captured = excluded.captured, status = excluded.status, standing = excluded.standing,
                key = excluded.key, currency = excluded.currency, refunds = excluded.refunds, stands = excluded.stands,
                work = excluded.work, asked_at = excluded.asked_at
            WHERE (known.captured, known.status, known.standing, known.key, known.currency, known.refunds, known.stands,
                    known.work, known.asked_at)
                IS DISTINCT FROM (excluded.captured, excluded.status, excluded.standing, excluded.key,
                    excluded.currency, excluded.refunds, excluded.stands, excluded.work, excluded.asked_at)
            """,
            [
                .texts(rows.map(\.0)), .ints(rows.map { Int64($0.1.leg) }), .texts(rows.map(\.1.provider)),
                .bools(rows.map(\.1.isFirstAtProvider)), .ints(rows.map(\.1.amount)), .ints(rows.map(\.1.captured)),
                .texts(rows.map(\.1.status)), .texts(rows.map(\.1.standing)), .ints(rows.map(\.1.createdAt)),
                .texts(rows.map(\.1.key)), .texts(rows.map(\.1.currency)), .texts(rows.map(\.1.refunds)),
                .texts(rows.map(\.1.stands)), .texts(rows.map(\.1.work)), .ints(rows.map(\.1.askedAt)),
            ])
    }

    private static func effects(_ changes: [PreparedChange]) -> Statement {
        let rows = changes.flatMap { change in change.effects.map { (change.id, $0) } }
        return Statement(
            """
            INSERT INTO effects AS known (payment_id, provider, key, leg, kind, amount, generation, attempts, worst,
                status)
            SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[],
                $7::bigint[], $8::bigint[], $9::bigint[], $10::text[])
            ON CONFLICT (payment_id, provider, key) DO UPDATE
            SET attempts = excluded.attempts, worst = excluded.worst, status = excluded.status
            WHERE (known.attempts, known.worst, known.status)
                IS DISTINCT FROM (excluded.attempts, excluded.worst, excluded.status)
            """,
            [
                .texts(rows.map(\.0)), .texts(rows.map(\.1.provider)), .texts(rows.map(\.1.key)),
                .ints(rows.map { Int64($0.1.leg) }), .texts(rows.map(\.1.kind)), .ints(rows.map(\.1.amount)),
                .ints(rows.map { Int64($0.1.generation) }), .ints(rows.map { Int64($0.1.attempts) }),
                .ints(rows.map { Int64($0.1.worst) }), .texts(rows.map(\.1.status)),
            ])
    }

    /// Rows come and go with what waits; those that stay name the version of the payment that they are of.
    private static func waiting(_ changes: [PreparedChange]) -> Statement {
        let rows = changes.flatMap { change in change.waiting.map { (change, $0) } }
        return Statement(
            """
            WITH now AS (
                SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[])
                    AS now (payment_id, operation, waits_for, version)
            ), gone AS (
                DELETE FROM waiting_operations AS known WHERE payment_id = ANY ($1::text[]) AND NOT EXISTS (
                    SELECT 1 FROM now WHERE now.payment_id = known.payment_id AND now.operation = known.operation
                        AND now.waits_for = known.waits_for)
            )
            INSERT INTO waiting_operations (payment_id, operation, waits_for, version) SELECT * FROM now
            ON CONFLICT (payment_id, operation, waits_for) DO UPDATE SET version = excluded.version
            """,
            [
                .texts(changes.map(\.id)), .texts(rows.map(\.0.id)), .texts(rows.map(\.1.operation.rawValue)),
                .texts(rows.map(\.1.waitsFor.rawValue)), .ints(rows.map(\.0.payment.version)),
            ])
    }

    private static func events(_ changes: [PreparedChange]) -> Statement {
        let rows = changes.flatMap { change in change.events.map { (change.id, $0) } }
        return Statement(
            """
            INSERT INTO events (payment_id, seq, at, type, leg, fields, prev, hash)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::text[],
                $7::text[], $8::text[])
            """,
            [
                .texts(rows.map(\.0)), .ints(rows.map(\.1.sequence)), .ints(rows.map(\.1.at)),
                .texts(rows.map(\.1.type)), .ints(rows.map { $0.1.leg.map { Int64($0) } }),
                .texts(rows.map(\.1.fields)), .texts(rows.map(\.1.previous)), .texts(rows.map(\.1.hash)),
            ])
    }

    /// Names the payments of those that are there already: no two of one group have the same.
    private static func propose(_ repairs: [RepairRow]) -> Statement {
        Statement(
            """
            WITH written AS (
                INSERT INTO repairs (\(RepairRow.names)) SELECT * FROM \(RepairRow.unnested)
                ON CONFLICT (id) DO NOTHING RETURNING payment_id
            ) SELECT require_all($2::text[], array_agg(payment_id)) FROM written
            """, RepairRow.arrays(repairs))
    }

    /// The same of those that do not wait.
    private static func decide(_ repairs: [RepairRow]) -> Statement {
        Statement(
            """
            WITH written AS (
                UPDATE repairs AS known
                SET state = new.state, decided_by = new.decided_by, document = new.document
                FROM \(RepairRow.unnested)
                WHERE known.id = new.id AND known.state = 'proposed' RETURNING known.payment_id
            ) SELECT require_all($2::text[], array_agg(payment_id)) FROM written
            """, RepairRow.arrays(repairs))
    }

    private static func keys(_ changes: [PreparedChange]) -> Statement {
        let records = changes.compactMap(\.record)
        return Statement(
            """
            WITH written AS (
                INSERT INTO idempotency_keys (place, caller, key, operation, payment_id, fingerprint, created_at,
                    pruned, answer_status, answer_type, answer_location, answer_body)
                SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
                    $7::bigint[], $8::boolean[], $9::bigint[], $10::text[], $11::text[], $12::bytea[])
                    AS new (place, caller, key, operation, payment_id, fingerprint, created_at, pruned, answer_status,
                        answer_type, answer_location, answer_body)
                ORDER BY place
                ON CONFLICT (place) DO NOTHING RETURNING place
            ) SELECT require_all($1::text[], array_agg(place)) FROM written
            """,
            [
                .texts(changes.compactMap(\.keyPlace)), .texts(records.map(\.caller.name)),
                .texts(records.map(\.key.text)), .texts(records.map(\.operation.rawValue)),
                .texts(records.map(\.payment.text)), .texts(records.map(\.fingerprint.hex)),
                .ints(records.map(\.createdAt.milliseconds)), .bools(records.map(\.isPruned)),
                .ints(records.map { $0.answer.map { Int64($0.status) } }), .texts(records.map(\.answer?.contentType)),
                .texts(records.map { $0.answer?.location }), .byteStrings(records.map(\.answer?.body)),
            ])
    }

    /// Keeps answers where there is none; returns the places of those that were kept.
    private static func keep(_ given: [PreparedAnswer]) -> Statement {
        Statement(
            """
            WITH given AS (
                SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bytea[])
                    AS given (place, status, type, location, body)
            ), locked AS (
                -- In one order, so that two groups never wait for each other.
                SELECT place FROM idempotency_keys WHERE place = ANY ($1::text[]) ORDER BY place FOR UPDATE
            )
            UPDATE idempotency_keys SET answer_status = given.status, answer_type = given.type,
                answer_location = given.location, answer_body = given.body
            FROM given JOIN locked USING (place)
            WHERE idempotency_keys.place = given.place AND answer_status IS NULL AND NOT pruned
            RETURNING idempotency_keys.place
            """,
            [
                .texts(given.map(\.place)), .ints(given.map { Int64($0.answer.status) }),
                .texts(given.map(\.answer.contentType)), .texts(given.map(\.answer.location)),
                .byteStrings(given.map(\.answer.body)),
            ])
    }
}
