package import PaymentCore
package import Reconciler

/// A compared position as a row of `compared_positions`.
package struct ComparedRow: WrittenRow {
    /// The table.
    package static let table = "compared_positions"
    /// The columns by which a row is found.
    package static let key = ["provider", "key"]
    /// All columns, in the order of ``values``.
    package static let columns: [Column] =
        [
            Column("provider", .text), Column("key", .text), Column("unsettled", .flag), Column("ours_net", .int),
            Column("theirs_net", .int),
        ] + read
    /// The values, one for each column.
    package let values: [ColumnValue]

    /// The columns that are read back, in the order of ``position(_:from:at:key:)``.
    private static let read: [Column] = [
        Column("finding", .text), Column("found_by", .text), Column("is_named", .flag), Column("listed_at", .int),
        Column("compared_at", .int), Column("run", .text),
        Column("theirs_status", .text), Column("theirs_payment", .text), Column("theirs_leg", .int),
        Column("theirs_amount", .int), Column("theirs_currency", .text), Column("theirs_captured", .int),
        Column("theirs_refunds", .text), Column("theirs_updated_at", .int), Column("theirs_contradiction", .text),
        Column("theirs_created_at", .int), Column("theirs_store", .text), Column("theirs_others", .text),
        Column("ours_payment", .text), Column("ours_leg", .int), Column("ours_amount", .int),
        Column("ours_currency", .text), Column("ours_captured", .int), Column("ours_refunds", .text),
        Column("ours_stands", .text), Column("ours_work", .text), Column("ours_state", .text),
        Column("ours_updated_at", .int), Column("ours_asked_at", .int),
    ]

    /// The columns that are read back, with commas between.
    package static let selection = read.map(\.name).joined(separator: ", ")

    /// The same, of a table under the name `c`.
    package static let qualified = read.map { "c.\($0.name)" }.joined(separator: ", ")

    /// The keys of positions that agreed, of provider 1, which were listed last from 2 on and before 3, at most 4.
    ///
    /// - Parameter parameter: how a database writes the parameter of a number.
    package static func listedKeys(_ parameter: (Int) -> String) -> String {
        """
        SELECT key, theirs_payment, theirs_leg FROM compared_positions
        WHERE provider = \(parameter(1)) AND listed_at >= \(parameter(2)) AND listed_at < \(parameter(3))
            AND finding = 'matched' AND NOT is_named
        ORDER BY listed_at, key LIMIT \(parameter(4))
        """
    }

    /// A row of ``listedKeys(_:)``.
    package static func question(_ row: some ColumnReader) throws -> PositionQuestion {
        PositionQuestion(
            key: EffectKey(reported: try row.word(0)), payment: try row.payment(1), leg: try row.int(2).map { Int($0) })
    }

    /// ``KnownPosition/isUnchanged`` of a position under `c`, whose key is that of the leg under `l` with its payment
    /// under `p`.
    package static let isUnchanged = """
        c.finding = 'matched' AND NOT c.is_named AND p.document IS NULL AND c.ours_payment = l.payment_id
        AND c.ours_leg = l.leg AND c.ours_amount = l.amount AND c.ours_currency = l.currency
        AND c.ours_captured = l.captured AND c.ours_refunds IS NOT DISTINCT FROM l.refunds
        AND c.ours_stands = l.stands AND c.ours_work = l.work AND c.ours_state = p.state
        AND c.ours_updated_at = p.updated_at AND c.ours_asked_at IS NOT DISTINCT FROM l.asked_at
        """

    /// The row of a position.
    ///
    /// - Throws: ``StoreFailure`` with the code `other` if a side is about another transaction, or an amount of a side
    ///   is of another currency than the rest of it.
    package init(_ position: ComparedPosition) throws(StoreFailure) {
        let (ours, theirs) = (position.ours, position.theirs)
        let isOne =
            ours.map { $0.key == position.key && $0.provider == position.provider } ?? true
            && theirs.map { $0.key == position.key } ?? true
        guard isOne else { throw ComparedRow.refused("its sides are not of one transaction") }
        if let ours, ours.captured.currency != ours.amount.currency { throw ComparedRow.refused("it mixes currencies") }
        if let theirs, theirs.amount?.currency != theirs.captured?.currency {
            throw ComparedRow.refused("it mixes currencies")
        }
        values =
            [
                .text(position.provider.name), .text(position.key.text), .flag(position.isUnsettled),
                .int(ours?.net.value), .int(theirs?.net?.value), .text(position.finding.rawValue), .text(position.row),
                .flag(position.isNamed), .int(position.listedAt?.milliseconds), .int(position.comparedAt.milliseconds),
                .text(position.run.text),
            ] + (try ComparedRow.values(theirs)) + (try ComparedRow.values(ours))
    }

    private static func refused(_ cause: String) -> StoreFailure {
        StoreFailure(.other, operation: "record step", cause: "a position cannot be stored: \(cause)")
    }

    private static func values(_ theirs: ListedPosition?) throws(StoreFailure) -> [ColumnValue] {
        [
            .text(theirs?.status.rawValue), .text(theirs?.payment?.text), .int(theirs?.leg.map { Int64($0) }),
            .int(theirs?.amount?.value), .text(theirs?.amount?.currency.code), .int(theirs?.captured?.value),
            .text(try RefundColumn.text(theirs?.refunds ?? [])), .int(theirs?.updatedAt?.milliseconds),
            .text(theirs?.contradiction), .int(theirs?.createdAt?.milliseconds), .text(theirs?.store?.text),
            .text(theirs?.isShared == true ? try StoredDocument.encode(theirs?.others) : nil),
        ]
    }

    private static func values(_ ours: BookedPosition?) throws(StoreFailure) -> [ColumnValue] {
        [
            .text(ours?.payment.text), .int(ours.map { Int64($0.leg) }), .int(ours?.amount.value),
            .text(ours?.amount.currency.code), .int(ours?.captured.value),
            .text(try RefundColumn.text(ours?.refunds ?? [])), .text(ours?.standing.rawValue),
            .text(ours?.work.rawValue), .text(ours?.state.rawValue), .int(ours?.updatedAt.milliseconds),
            .int(ours?.askedAt?.milliseconds),
        ]
    }
}

extension ComparedRow {
    /// The position in a row, whose columns begin at `first` with those of ``selection``; `nil` if there is none.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package static func position(
        _ row: some ColumnReader, from first: Int, at provider: ProviderName, key: EffectKey
    ) throws -> ComparedPosition? {
        guard let word = try row.text(first) else { return nil }
        guard let finding = ComparisonClass(rawValue: word), let run = ComparisonRunID(text: try row.word(first + 5))
        else { throw StoreFailure.malformed("a compared position does not decode") }
        return ComparedPosition(
            provider: provider, key: key, theirs: try theirs(row, first + 6, key),
            ours: try ours(row, first + 18, provider, key),
            listedAt: try row.int(first + 3).map { Timestamp(milliseconds: $0) }, finding: finding,
            row: try row.word(first + 1), isNamed: try row.flag(first + 2),
            comparedAt: Timestamp(milliseconds: try row.number(first + 4)), run: run)
    }

    private static func theirs(_ row: some ColumnReader, _ first: Int, _ key: EffectKey) throws -> ListedPosition? {
        guard let word = try row.text(first) else { return nil }
        guard let status = Observation.Status(rawValue: word) else {
            throw StoreFailure.malformed("a stored status is unknown")
        }
        var (amount, captured): (Money?, Money?)
        if let value = try row.int(first + 3) {
            let currency = try row.currency(first + 4)
            amount = try Money(value, currency)
            captured = try row.int(first + 5).map { try Money($0, currency) }
        }
        return ListedPosition(
            key: key, payment: try row.payment(first + 1), leg: try row.int(first + 2).map { Int($0) }, status: status,
            amount: amount, captured: captured, refunds: try row.refunds(first + 6),
            createdAt: try row.int(first + 9).map { Timestamp(milliseconds: $0) },
            updatedAt: try row.int(first + 7).map { Timestamp(milliseconds: $0) },
            contradiction: try row.text(first + 8),
            others: try row.data(first + 11).map { try StoredDocument.decode($0) } ?? [],
            store: try row.text(first + 10).flatMap { StoreID(text: $0) })
    }

    private static func ours(
        _ row: some ColumnReader, _ first: Int, _ provider: ProviderName, _ key: EffectKey
    ) throws -> BookedPosition? {
        guard let payment = try row.payment(first) else { return nil }
        let currency = try row.currency(first + 3)
        return BookedPosition(
            payment: payment, leg: Int(try row.number(first + 1)), provider: provider, key: key,
            amount: try Money(row.number(first + 2), currency), captured: try Money(row.number(first + 4), currency),
            refunds: try row.refunds(first + 5), standing: try row.choice(first + 6),
            work: try row.choice(first + 7), state: try row.choice(first + 8),
            updatedAt: Timestamp(milliseconds: try row.number(first + 9)),
            askedAt: try row.int(first + 10).map { Timestamp(milliseconds: $0) })
    }
}
