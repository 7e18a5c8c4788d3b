public import PaymentCore
internal import Reconciler

extension StoreModel {
    /// Reads what is known of keys at a provider, in the order of the questions.
    public func positions(at provider: ProviderName, _ questions: [PositionQuestion]) -> [KnownPosition] {
        questions.map { question in
            let ours = booked(provider, question.key)
            let named = ours == nil ? question.payment.flatMap { leg(question.leg, of: $0, at: provider) } : nil
            return KnownPosition(
                key: question.key, ours: ours, named: named, row: comparisons.row(provider, question.key))
        }
    }

    /// Reads the legs at a provider whose payment changed last within a window, in the order of ``BookedPlace``.
    public func changedPositions(
        at provider: ProviderName, in window: ComparedWindow, after cursor: BookedPlace?, limit: Int
    ) -> BookedPage {
        var found: [BookedPosition] = []
        for row in rows {
            guard let row, window.contains(row.payment.updatedAt) else { continue }
            for position in row.payment.bookedPositions where position.provider == provider {
                if let cursor, BookedPlace(position) <= cursor { continue }
                found.append(position)
            }
        }
        found.sort { BookedPlace($0) < BookedPlace($1) }
        let page = found.prefix(max(0, limit)).map { ours in
            KnownPosition(key: ours.key, ours: ours, row: comparisons.row(provider, ours.key))
        }
        return BookedPage(page, limit: limit)
    }

    /// Reads the unsettled positions of a provider, in order of their keys.
    public func unsettledPositions(at provider: ProviderName, after key: EffectKey?, limit: Int) -> [KnownPosition] {
        let found = comparisons.rows.values.filter { row in
            row.provider == provider && row.isUnsettled && key.map { row.key > $0 } ?? true
        }.sorted { $0.key < $1.key }
        return found.prefix(max(0, limit)).map { row in
            let ours = booked(provider, row.key)
            let named =
                ours == nil ? row.theirs?.payment.flatMap { leg(row.theirs?.leg, of: $0, at: provider) } : nil
            return KnownPosition(key: row.key, ours: ours, named: named, row: row)
        }
    }

    /// The leg that has a key.
    private func booked(_ provider: ProviderName, _ key: EffectKey) -> BookedPosition? {
        guard let rowIndex = legs[StoredComparisons.Place(provider: provider, key: key)], let row = rows[rowIndex]
        else { return nil }
        return row.payment.bookedPositions.first { $0.provider == provider && $0.key == key }
    }

    /// The leg that a transaction names.
    private func leg(_ index: Int?, of id: PaymentID, at provider: ProviderName) -> BookedPosition? {
        payment(id)?.bookedPositions.first { position in
            position.provider == provider && index.map { position.leg == $0 } ?? true
        }
    }
}
