internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let trails: [ContractCase] = [
        ContractCase("a trail is read in order and leads to the payment's head") { it in
            let work = try await it.settle(Scenario.Order("k1"))
            let trail = try await it.store.auditTrail(of: work.payment.id, after: 0, limit: 1_000)
            try require(trail.count >= 6, "create, intents, outcomes, latch and conclusion are there")
            try require(trail.map(\.sequence), is: Array(1...Int64(trail.count)), "the sequence")
            try AuditHead.verify(trail, of: work.payment.id, head: work.payment.auditHead)
            try require(trail.first?.type, is: .created, "the first entry")
            try require(trail.first?.fields.map(\.name), is: ["amount", "legs", "capture", "deadline"], "its fields")
        },
        ContractCase("a trail is read in parts") { it in
            let id = try await it.settle(Scenario.Order("k1")).payment.id
            let trail = try await it.store.auditTrail(of: id, after: 0, limit: 1_000)
            let part = try await it.store.auditTrail(of: id, after: 2, limit: 3)
            try require(part, is: Array(trail[2..<5]), "the part")
            let end = try await it.store.auditTrail(of: id, after: Int64(trail.count), limit: 3)
            try require(end, is: [], "what is after the end")
            try require(try await it.store.auditTrail(of: id, after: 0, limit: 0), is: [], "nothing, if asked")
        },
        ContractCase("each payment has a trail of its own") { it in
            let first = try await it.create(Scenario.Order("k1"))
            let second = try await it.settle(Scenario.Order("k2"))
            let trail = try await it.store.auditTrail(of: first.payment.id, after: 0, limit: 1_000)
            try AuditHead.verify(trail, of: first.payment.id, head: first.payment.auditHead)
            let other = try await it.store.auditTrail(of: second.payment.id, after: 0, limit: 1_000)
            try require(Set(trail.map(\.hash)).isDisjoint(with: other.map(\.hash)), "they share nothing")
        },
    ]

    static let sealing: [ContractCase] = [
        ContractCase("only what changed since the last seal is sealed") { it in
            try require(try await it.store.seal(), is: nil, "the seal of an empty store")
            var works = [
                try await it.create(Scenario.Order("k1")), try await it.create(Scenario.Order("k2")),
                try await it.create(Scenario.Order("k3")),
            ]
            let first = try require(try await it.store.seal(), "the first seal")
            let heads = works.map { (payment: $0.payment.id, head: $0.payment.auditHead) }
                .sorted { $0.payment < $1.payment }
            let expected = Seal(number: 1, at: it.clock.now(), previous: Seal.genesis, heads: heads)
            try require(first, is: expected, "the first seal")
            try require(try await it.store.seal(), is: nil, "the seal of nothing new")
            try await it.save(&works[1], .inquireNow)
            it.clock.advance(by: .seconds(7))
            let second = try require(try await it.store.seal(), "the second seal")
            let changed = [(payment: works[1].payment.id, head: works[1].payment.auditHead)]
            let next = Seal(number: 2, at: it.clock.now(), previous: first.hash, heads: changed)
            try require(second, is: next, "the second seal")
        },
        ContractCase("what is intact is found intact, sealed or grown since") { it in
            try require(try await it.store.verifySeals(), is: [], "the breaks of an empty store")
            var work = try await it.create(Scenario.Order("k1"))
            _ = try await it.store.seal()
            try await it.save(&work, .inquireNow)
            try await it.settle(Scenario.Order("k2"))
            _ = try await it.store.seal()
            try await it.save(&work, .inquireNow)
            try require(try await it.store.verifySeals(), is: [], "the breaks")
        },
        ContractCase("an altered entry is found") { it in
            let id = try await sealedTwice(it)
            try await it.tamper(it.store, .alterEntry(id, sequence: 2))
            let breaks = try await it.store.verifySeals()
            try require(isTrailBroken(breaks, id) && breaks.count == 1, "one broken trail, found \(breaks)")
        },
        ContractCase("an altered entry is shown as it is stored, and is not intact") { it in
            let id = try await sealedTwice(it)
            try await it.tamper(it.store, .alterEntry(id, sequence: 2))
            let trail = try await it.store.auditTrail(of: id, after: 0, limit: 1_000)
            let intact = trail.map { $0.isIntact(payment: id) }
            try require(intact, is: trail.map { $0.sequence != 2 }, "whether the entries are intact")
        },
        ContractCase("a trail that was cut is found by its seal") { it in
            let id = try await sealedTwice(it)
            try await it.tamper(it.store, .truncateTrail(id))
            try require(try await it.store.verifySeals(), is: [.headMissing(number: 2, payment: id)], "the breaks")
        },
        ContractCase("a trail that was written anew is found by its seals") { it in
            let id = try await sealedTwice(it)
            try await it.tamper(it.store, .rewriteTrail(id))
            try require(
                try await it.store.verifySeals(),
                is: [.headMissing(number: 1, payment: id), .headMissing(number: 2, payment: id)], "the breaks")
        },
        ContractCase("a trail that is gone is found") { it in
            let id = try await sealedTwice(it)
            try await it.tamper(it.store, .removeTrail(id))
            let breaks = try await it.store.verifySeals()
            try require(isTrailBroken(breaks, id), "a broken trail, found \(breaks)")
            try require(breaks.contains(.headMissing(number: 1, payment: id)), "a missing head, found \(breaks)")
        },
        ContractCase("a payment that says something else than its trail is found") { it in
            let id = try await sealedTwice(it)
            try await it.tamper(it.store, .alterPayment(id))
            try require(
                try await it.store.verifySeals(),
                is: [.paymentDiffers(payment: id, detail: "capture: manual, by its trail automatic")],
                "the breaks")
        },
        ContractCase("an altered seal is found") { it in
            _ = try await sealedTwice(it)
            try await it.tamper(it.store, .alterSeal(number: 1))
            try require(try await it.store.verifySeals(), is: [.altered(number: 1)], "the breaks")
        },
        ContractCase("a missing seal is found") { it in
            _ = try await sealedTwice(it)
            try await it.tamper(it.store, .removeSeal(number: 1))
            try require(try await it.store.verifySeals(), is: [.missing(number: 1)], "the breaks")
        },
    ]

    /// A payment whose trail is sealed in two seals, among others.
    private static func sealedTwice(_ it: Scenario) async throws -> PaymentID {
        var work = try await it.create(Scenario.Order("k1"))
        try await it.create(Scenario.Order("k2"))
        _ = try await it.store.seal()
        try await it.save(&work, .inquireNow)
        try await it.save(&work, .inquireNow)
        _ = try await it.store.seal()
        return work.payment.id
    }

    private static func isTrailBroken(_ breaks: [SealBreak], _ id: PaymentID) -> Bool {
        breaks.contains { found in
            if case .trailBroken(id, _) = found { return true }
            return false
        }
    }
}
