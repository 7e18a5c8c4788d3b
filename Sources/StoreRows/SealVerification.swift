package import Foundation
package import PaymentCore
package import Reconciler

/// How much is sealed at once. After an import, or an hour in which no process could seal, millions of events wait: in
/// one statement they would exceed its time limit, each time anew.
package enum SealBounds {
    /// One seal covers at most so many events, and so at most so many heads.
    package static let mostEvents = 10_000
    /// One call makes at most so many seals. What is left waits for the next call, so that payments go on beside it.
    package static let mostSeals = 20
}

/// The check of all seals and trails, in steps that each read a bounded part: first the seals, one a step, then the
/// trails, some a step, then the trails that have lost their payment.
package struct SealVerification: Sendable {
    /// After so many breaks there is nothing more to learn.
    package static let mostBreaks = 1_000
    private static let trailsPerStep = 100
    private static let ownersPerStep = 200

    /// At the beginning.
    package init() {}

    private enum Stage: Sendable {
        case seals(last: Int64, hash: Digest)
        case trails(after: String)
        case orphans(after: String)
        case done
    }

    /// What is wrong, as far as was checked.
    package private(set) var breaks: [SealBreak] = []
    private var stage: Stage = .seals(last: 0, hash: Seal.genesis)

    /// Whether there is nothing left to check.
    package var isDone: Bool {
        if case .done = stage { return true }
        return false
    }

    /// Checks the next part.
    /// - Parameter source: reads in one snapshot.
    package mutating func step(_ source: some SealSource) throws {
        switch stage {
        case .seals(let last, let hash): try checkSeal(after: last, hash, source)
        case .trails(let after): try checkTrails(after: after, source)
        case .orphans(let after): try checkOrphans(after: after, source)
        case .done: break
        }
        if breaks.count >= SealVerification.mostBreaks { stage = .done }
    }

    private mutating func checkSeal(after last: Int64, _ previous: Digest, _ source: some SealSource) throws {
        guard let row = try source.seal(after: last) else {
            stage = .trails(after: "")
            return
        }
        let number = row.number
        let room = SealVerification.mostBreaks - breaks.count
        breaks += ((last + 1)..<max(number, last + 1)).prefix(room).map { .missing(number: $0) }
        let heads: SealedHeads
        do {
            heads = try source.heads(ofSeal: number)
        } catch is StoreFailure {
            breaks.append(.altered(number: number))
            stage = .seals(last: number, hash: Digest(hex: row.hash) ?? previous)
            return
        }
        let claimed = Digest(hex: row.previous) ?? previous
        let seal = Seal(number: number, at: Timestamp(milliseconds: row.at), previous: claimed, heads: heads)
        let follows = claimed == previous || number > last + 1
        if !follows || seal.hash.hex != row.hash || seal.heads != row.heads || claimed.hex != row.previous {
            breaks.append(.altered(number: number))
        }
        try checkHeads(heads, of: number, source)
        // What follows is judged by what this seal says of itself, so that one fault is reported once.
        stage = .seals(last: number, hash: Digest(hex: row.hash) ?? seal.hash)
    }

    private mutating func checkHeads(_ heads: SealedHeads, of number: Int64, _ source: some SealSource) throws {
        for (payment, head) in heads where breaks.count < SealVerification.mostBreaks {
            let found = try source.hash(of: payment, at: head.sequence)
            if found == head.hash.hex { continue }
            if found == nil, try source.isPruned(payment) { continue }
            breaks.append(.headMissing(number: number, payment: payment))
        }
    }

    private mutating func checkTrails(after last: String, _ source: some SealSource) throws {
        let rows = try source.trails(after: last, limit: SealVerification.trailsPerStep)
        guard let newest = rows.last else {
            stage = .orphans(after: "")
            return
        }
        for row in rows where breaks.count < SealVerification.mostBreaks {
            // Under another id the trail is an orphan, and is found as that.
            guard let payment = PaymentID(text: row.payment) else { continue }
            guard let hash = Digest(hex: row.hash) else {
                breaks.append(.trailBroken(payment: payment, detail: "the payment's head is no digest"))
                continue
            }
            let head = AuditHead(sequence: row.sequence, hash: hash)
            let (found, account) = try checkTrail(of: payment, head: head, source)
            if let found {
                breaks.append(.trailBroken(payment: payment, detail: "\(found)"))
            } else if let detail = SealVerification.difference(row.document, payment, head, account) {
                breaks.append(.paymentDiffers(payment: payment, detail: detail))
            }
        }
        stage = .trails(after: newest.payment)
    }

    /// What a stored payment says otherwise than its trail and its row; `nil` if nothing.
    private static func difference(
        _ document: Data, _ id: PaymentID, _ head: AuditHead, _ account: TrailAccount
    ) -> String? {
        let payment: Payment
        do {
            payment = try PaymentDocument.decode(document)
        } catch {
            return "it cannot be read: \(error.cause)"
        }
        guard payment.id == id else { return "it is \(payment.id.text)" }
        guard payment.auditHead == head else { return "it ends at entry \(payment.auditHead.sequence) of its trail" }
        let found = account.contradictions(to: payment)
        return found.isEmpty ? nil : found.joined(separator: "; ")
    }

    private func checkTrail(
        of payment: PaymentID, head: AuditHead, _ source: some SealSource
    ) throws -> (AuditBreak?, TrailAccount) {
        var account = TrailAccount()
        var last = AuditHead.empty(payment)
        var broken: AuditBreak?
        try source.events(of: payment) { event in
            do throws(AuditBreak) {
                let entry = try event.entry(after: last, of: payment)
                account.take(entry)
                last = AuditHead(sequence: entry.sequence, hash: entry.hash)
            } catch {
                broken = error
            }
            return broken == nil
        }
        if broken == nil, last != head { broken = .wrongHead(expected: head.sequence, found: last.sequence) }
        return (broken, account)
    }

    private mutating func checkOrphans(after last: String, _ source: some SealSource) throws {
        let owners = try source.owners(after: last, limit: SealVerification.ownersPerStep)
        for owner in owners where !owner.isKnown && breaks.count < SealVerification.mostBreaks {
            guard let payment = PaymentID(text: owner.payment) else { continue }
            breaks.append(.trailBroken(payment: payment, detail: "its payment is gone"))
        }
        stage = owners.last.map { .orphans(after: $0.payment) } ?? .done
    }
}

/// The heads that a seal covers, in ascending order of payment id.
package typealias SealedHeads = [(payment: PaymentID, head: AuditHead)]

/// A seal as it is stored.
package struct SealRow: Sendable {
    let number: Int64
    let at: Int64
    let heads: Int
    let previous: String
    let hash: String

    /// A row.
    package init(number: Int64, at: Int64, heads: Int, previous: String, hash: String) {
        self.number = number
        self.at = at
        self.heads = heads
        self.previous = previous
        self.hash = hash
    }
}

/// A payment with the head of its trail, as its row remembers it.
package struct HeadRow: Sendable {
    let payment: String
    let sequence: Int64
    let hash: String
    let document: Data

    /// A row.
    package init(payment: String, sequence: Int64, hash: String, document: Data) {
        self.payment = payment
        self.sequence = sequence
        self.hash = hash
        self.document = document
    }
}

/// A payment of which there is a trail.
package struct TrailOwner: Sendable {
    let payment: String
    let isKnown: Bool

    /// A payment.
    /// - Parameter isKnown: it is stored, or its key says that it was removed because it ended long ago.
    package init(payment: String, isKnown: Bool) {
        self.payment = payment
        self.isKnown = isKnown
    }
}

/// Where the seals and trails are read that are checked.
package protocol SealSource {
    /// The first seal with a higher number.
    func seal(after number: Int64) throws -> SealRow?
    /// What a seal covers.
    ///
    /// - Throws: ``StoreFailure`` if a head does not decode.
    func heads(ofSeal number: Int64) throws -> SealedHeads
    /// The hash of a trail's entry.
    func hash(of payment: PaymentID, at sequence: Int64) throws -> String?
    /// Payments with their heads, in ascending order of their ids.
    func trails(after payment: String, limit: Int) throws -> [HeadRow]
    /// Hands over a trail, oldest first, until it is told that this is enough.
    func events(of payment: PaymentID, _ goesOn: (EventRow) throws -> Bool) throws
    /// Whether a payment was removed because it ended long ago: its key says so.
    func isPruned(_ payment: PaymentID) throws -> Bool
    /// The payments of which there are trails, in ascending order of their ids.
    func owners(after payment: String, limit: Int) throws -> [TrailOwner]
}
