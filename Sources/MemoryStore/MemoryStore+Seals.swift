internal import PaymentCore
public import Reconciler

/// The seals and what they cover.
struct Sealing {
    /// A seal with the heads over which it was made.
    struct Sealed {
        var seal: Seal
        var heads: [(payment: PaymentID, head: AuditHead)]
    }

    /// In order.
    var seals: [Sealed] = []
    /// The payments whose trails grew since the last seal.
    var unsealed: Set<PaymentID> = []
}

extension MemoryStore {
    /// Seals the heads of all trails that grew since the last seal; `nil` if none did.
    public func seal() async throws(StoreFailure) -> Seal? {
        try perform(.seal) {
            guard !sealing.unsealed.isEmpty else { return nil }
            let heads = sealing.unsealed.sorted().compactMap { id in
                stored[id].map { (payment: id, head: $0.payment.auditHead) }
            }
            let last = sealing.seals.last?.seal
            let seal = Seal(
                number: (last?.number ?? 0) + 1, at: moment(), previous: last?.hash ?? Seal.genesis, heads: heads)
            sealing.seals.append(Sealing.Sealed(seal: seal, heads: heads))
            sealing.unsealed.removeAll()
            return seal
        }
    }

    /// Checks the seals' chain, every sealed head and every trail; returns what is wrong.
    public func verifySeals() async throws(StoreFailure) -> [SealBreak] {
        try perform(.verifySeals) { sealBreaks() + trailBreaks() }
    }

    private func sealBreaks() -> [SealBreak] {
        var breaks: [SealBreak] = []
        var last: (number: Int64, hash: Digest) = (0, Seal.genesis)
        for sealed in sealing.seals {
            let seal = sealed.seal
            breaks += ((last.number + 1)..<max(seal.number, last.number + 1)).map { .missing(number: $0) }
            let again = Seal(number: seal.number, at: seal.at, previous: seal.previous, heads: sealed.heads)
            let follows = seal.previous == last.hash || seal.number > last.number + 1
            if again != seal || !follows { breaks.append(.altered(number: seal.number)) }
            for (payment, head) in sealed.heads {
                let found = trails[payment]?.first { $0.sequence == head.sequence }
                if found?.hash != head.hash { breaks.append(.headMissing(number: seal.number, payment: payment)) }
            }
            last = (seal.number, seal.hash)
        }
        return breaks
    }

    private func trailBreaks() -> [SealBreak] {
        stored.keys.sorted().compactMap { id in
            guard let head = stored[id]?.payment.auditHead else { return nil }
            do throws(AuditBreak) {
                try AuditHead.verify(trails[id] ?? [], of: id, head: head)
                return nil
            } catch {
                return .trailBroken(payment: id, detail: "\(error)")
            }
        }
    }
}
