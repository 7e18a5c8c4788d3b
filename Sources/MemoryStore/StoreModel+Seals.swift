internal import PaymentCore
internal import Reconciler

/// A seal with the heads over which it was made.
struct Sealed {
    var seal: Seal
    var heads: [(payment: PaymentID, head: AuditHead)]
}

extension StoreModel {
    /// Seals the heads of all trails that grew since the last seal; `nil` if none did.
    mutating func seal(at now: Timestamp) -> Seal? {
        var heads: [(payment: PaymentID, head: AuditHead)] = []
        for rowIndex in rows.indices {
            guard let row = rows[rowIndex], !row.unsealed.isEmpty else { continue }
            heads.append((payment: ids[rowIndex], head: row.payment.auditHead))
            rows[rowIndex]?.sealed = row.trail.count
        }
        guard !heads.isEmpty else { return nil }
        heads.sort { $0.payment < $1.payment }
        let last = seals.last?.seal
        let seal = Seal(number: (last?.number ?? 0) + 1, at: now, previous: last?.hash ?? Seal.genesis, heads: heads)
        seals.append(Sealed(seal: seal, heads: heads))
        return seal
    }

    /// Checks the seals' chain, every sealed head, every trail, and every payment by its trail; returns what is
    /// wrong.
    func verifySeals() -> [SealBreak] { sealBreaks() + trailBreaks() }

    private func sealBreaks() -> [SealBreak] {
        var breaks: [SealBreak] = []
        var last: (number: Int64, hash: Digest) = (0, Seal.genesis)
        for sealed in seals {
            let seal = sealed.seal
            breaks += ((last.number + 1)..<max(seal.number, last.number + 1)).map { .missing(number: $0) }
            let again = Seal(number: seal.number, at: seal.at, previous: seal.previous, heads: sealed.heads)
            let follows = seal.previous == last.hash || seal.number > last.number + 1
            if again != seal || !follows { breaks.append(.altered(number: seal.number)) }
            for (payment, head) in sealed.heads {
                let found = row(payment)?.trail.first { $0.sequence == head.sequence }
                if found?.hash != head.hash { breaks.append(.headMissing(number: seal.number, payment: payment)) }
            }
            last = (seal.number, seal.hash)
        }
        return breaks
    }

    private func trailBreaks() -> [SealBreak] {
        rows.compactMap(\.self).sorted { $0.payment.id < $1.payment.id }.compactMap { row in
            do throws(AuditBreak) {
                try AuditHead.verify(row.trail, of: row.payment.id, head: row.payment.auditHead)
            } catch {
                return .trailBroken(payment: row.payment.id, detail: "\(error)")
            }
            var account = TrailAccount()
            for entry in row.trail { account.take(entry) }
            let found = account.contradictions(to: row.payment)
            return found.isEmpty
                ? nil : .paymentDiffers(payment: row.payment.id, detail: found.joined(separator: "; "))
        }
    }
}
