internal import Foundation
internal import PaymentCore
internal import Reconciler
internal import StoreRows
internal import Testing

/// The documents that each released version stored are read by this one. A directory of `Golden` has those of one
/// version, and is never changed: a new version that stores something else gets a directory of its own, which
/// `UPDATE_GOLDEN=NAME swift test --filter GoldenTests` writes.
@Suite struct GoldenTests {
    private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Golden")

    /// What a reader must understand of a document, whatever the names of the core are.
    private static func facts(of payment: Payment) -> String {
        var lines = [
            "id \(payment.id) of \(payment.caller), key \(payment.key), version \(payment.version)",
            "state \(payment.state.rawValue), reason \(payment.reason?.code.rawValue ?? "none")",
            "latch \(payment.latch.rawValue)",
            "amount \(payment.amount), captured \(payment.captured), refunded \(payment.refunded)",
            "reference \(payment.reference ?? "none"), metadata \(payment.metadata.sorted { $0.key < $1.key })",
            "created \(payment.createdAt.rfc3339), deadline \(payment.deadline.rfc3339), "
                + "due \(payment.dueAt?.rfc3339 ?? "never") at \(payment.dueProvider?.name ?? "nobody")",
            "recovery \(payment.recovery.map { "until reads count from \($0.readsCountFrom.rfc3339)" } ?? "none")",
            "trail \(payment.auditHead.sequence) \(payment.auditHead.hash.hex.prefix(12))",
        ]
        for (leg, position) in zip(payment.legs, payment.bookedPositions) {
            lines.append(
                "leg \(leg.index) at \(leg.provider): \(position.standing.rawValue), "
                    + "captured \(position.captured), key \(position.key.text)")
            for effect in [leg.primary, leg.capture, leg.void, leg.compensation].compactMap({ $0 }) {
                lines.append("  " + words(of: effect))
            }
        }
        for refund in payment.refunds {
            lines.append("refund \(refund.id(of: payment)): \(refund.state.rawValue), \(refund.reason ?? "no reason")")
            for part in refund.parts {
                lines.append("  leg \(part.leg) \(part.reason ?? "without reason"), " + words(of: part.effect))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func words(of effect: Effect) -> String {
        let open = effect.open.map { "attempt \($0.number) open" } ?? "nothing open"
        return "\(effect.kind.rawValue) of \(effect.amount), \(effect.attempts) attempts, \(open), worst "
            + "\(effect.worst.rawValue), last \(effect.lastCode ?? "none"), key \(effect.key.text)"
    }

    @Test func `every payment that a released version stored is read, and means what it meant`() throws {
        let versions = try FileManager.default.contentsOfDirectory(atPath: Self.directory.path).sorted()
        #expect(!versions.isEmpty)
        for version in versions {
            let versionDirectory = Self.directory.appendingPathComponent(version)
            let documents = try FileManager.default.contentsOfDirectory(atPath: versionDirectory.path)
                .filter { $0.hasSuffix(".json") }
            #expect(documents.count >= 16, "\(version) has \(documents.count)")
            for name in documents {
                let stored = try Data(contentsOf: versionDirectory.appendingPathComponent(name))
                let payment = try PaymentDocument.decode(stored)
                let facts = versionDirectory.appendingPathComponent(name.replacing(".json", with: ".txt"))
                let expected = try String(contentsOf: facts, encoding: .utf8)
                #expect(Self.facts(of: payment) == expected, "\(version)/\(name)")
                // What is written again is the same payment.
                let again = try PaymentDocument.decode(Data(PaymentDocument.encode(payment)))
                #expect(again == payment, "\(version)/\(name)")
            }
        }
    }

    @Test func `the documents cover what a payment can come to`() async throws {
        let payments = try await GoldenPayments.all().map(\.payment)
        #expect(Set(payments.map(\.state)) == Set(PaymentState.allCases))
        #expect(Set(payments.map(\.latch)).count == 4)
        let positions = payments.flatMap(\.bookedPositions)
        #expect(Set(positions.map(\.standing)) == Set(BookedPosition.Standing.allCases))
        #expect(Set(positions.map(\.work)) == Set(BookedPosition.Work.allCases))
        let states = Set(payments.flatMap(\.refunds).map(\.state))
        #expect(states == [.processing, .succeeded, .failed, .quarantined])
        #expect(payments.contains { $0.recovery != nil })
        let effects = payments.flatMap(\.legs).flatMap { leg in
            [leg.primary, leg.capture, leg.void, leg.compensation].compactMap { $0 }
        }
        for kind in [EffectKind.authorize, .capture, .void, .refund] {
            #expect(effects.contains { $0.kind == kind && $0.open != nil }, "\(kind.rawValue)")
        }
    }

    /// A leg's document is written by hand: a property that it forgets would be lost with the next claim.
    @Test func `every property of a leg is in its document`() async throws {
        var unset: Set<String> = []
        var stored: Set<String> = []
        for payment in try await GoldenPayments.all().map(\.payment) {
            #expect(try PaymentDocument.decode(Data(PaymentDocument.encode(payment))) == payment)
            let document = try JSONSerialization.jsonObject(with: Data(PaymentDocument.encode(payment)))
            let legs = try #require((document as? [String: Any])?["legs"] as? [[String: Any]])
            for (leg, written) in zip(payment.legs, legs) {
                for property in Mirror(reflecting: leg).children {
                    let name = try #require(property.label)
                    let isSet =
                        Mirror(reflecting: property.value).displayStyle != .optional
                        || !Mirror(reflecting: property.value).children.isEmpty
                    let names = name == "loss" ? ["lost", "captureLost"] : [name]
                    if !isSet {
                        unset.insert(name)
                    } else if names.contains(where: { written[$0] != nil }) {
                        stored.insert(name)
                    } else {
                        Issue.record("\(name) of \(payment.id) is not stored")
                    }
                }
            }
        }
        // None of those documents has these.
        #expect(unset.subtracting(stored) == ["named", "holdEnds", "readWantedSince", "disputes", "keySpace"])
        let payment = try #require(try await GoldenPayments.all().first).payment
        let text = String(decoding: try PaymentDocument.encode(payment), as: UTF8.self)
        let dispute = ##"{"id":"dp_1","amount":{"value":700,"currency":"JPY"},"state":"open"}"##
        let added =
            ##","named":"\##(payment.id)","holdEnds":1772355600001,"readWantedSince":1772355600002"##
            + ##","disputes":[\##(dispute)],"keySpace":"api-west.example.com""##
        let mark = try #require(text.firstRange(of: ##""isCompensated":false"##))
        let more = text.replacingCharacters(in: mark.upperBound..<mark.upperBound, with: added)
        let again = String(
            decoding: try PaymentDocument.encode(PaymentDocument.decode(Data(more.utf8))), as: UTF8.self)
        #expect(again.contains(added), "\(again)")
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil))
    func `a new version's documents are written`() async throws {
        let version = try #require(ProcessInfo.processInfo.environment["UPDATE_GOLDEN"])
        let versionDirectory = Self.directory.appendingPathComponent(version)
        // What is there is of a version that was released.
        try FileManager.default.createDirectory(at: versionDirectory, withIntermediateDirectories: false)
        for (name, payment) in try await GoldenPayments.all() {
            try Data(PaymentDocument.encode(payment)).write(to: versionDirectory.appendingPathComponent("\(name).json"))
            try Data(Self.facts(of: payment).utf8).write(to: versionDirectory.appendingPathComponent("\(name).txt"))
        }
    }
}
