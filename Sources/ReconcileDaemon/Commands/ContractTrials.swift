import ArgumentParser
import PaymentCore
import ProgramEdge
import Reconciler

/// Which recorded decisions are made again under which contract.
struct ContractTrialOptions: ParsableArguments {
    /// At most so many payments are looked at.
    static let most = 100_000

    @Option(help: "Make the recorded decisions again under the contract in this file.") var whatIf: String?
    @Option(help: "With --what-if: whose contract it is; needed where several providers are configured.")
    var provider: String?
    @Option(help: "With --what-if and without an id: so many of the newest payments (default: 100).") var last: Int?

    /// The file with the contract, or `nil` where none is tried.
    func checkedFile(isReplay: Bool, hasID: Bool) throws -> String? {
        guard let whatIf else {
            guard provider == nil, last == nil else {
                throw CommandFailure(.usage, "--provider and --last are allowed with --what-if only")
            }
            return nil
        }
        guard !isReplay else {
            throw CommandFailure(.usage, "--replay and --what-if are not allowed together")
        }
        guard !hasID || last == nil else {
            throw CommandFailure(.usage, "--last is allowed without a payment's id only")
        }
        guard (1...ContractTrialOptions.most).contains(last ?? 1) else {
            throw CommandFailure(.usage, "--last: '\(last ?? 0)'; allowed: 1 to \(ContractTrialOptions.most)")
        }
        return whatIf
    }

    /// What is to be tried.
    func trials(inFile file: String, _ configuration: Configuration) throws -> ContractTrials {
        let names = configuration.providers.map(\.name.name).joined(separator: ", ")
        guard let chosen = provider ?? (configuration.providers.count == 1 ? names : nil),
            let known = configuration.providers.first(where: { $0.name.name == chosen })
        else {
            throw CommandFailure(.usage, "--provider: '\(provider ?? "")'; allowed: \(names)")
        }
        let changed: ProviderContract
        do {
            changed = try Configuration.contract(inFile: file)
        } catch let failure as ConfigurationFailure {
            throw CommandFailure(.usage, "the contract in \(file) is not understood:\n\(failure)")
        }
        guard changed.phases == known.contract.phases else {
            throw CommandFailure(
                .usage,
                "phases: '\(changed.phases.rawValue)'; allowed: \(known.contract.phases.rawValue), in which the "
                    + "payments were made")
        }
        return ContractTrials(
            provider: known.name, present: known.contract, changed: changed, configuration: configuration,
            last: last ?? 100)
    }
}

/// The recorded decisions of payments at one provider, made again under another contract.
struct ContractTrials {
    let provider: ProviderName
    let present: ProviderContract
    let changed: ProviderContract
    let configuration: Configuration
    let last: Int

    /// The keys of a contract that a decision may rest on, each with its value.
    static var keys: [(name: String, value: (ProviderContract) -> String)] {
        func text(_ span: Span?) -> String { span.map(DurationText.render) ?? "forever" }
        return [
            ("key_retention", { text($0.keyRetention) }), ("declines_bound", { String($0.declinesBound) }),
            ("declines_stay, of the base", { String($0.declinesStay) }),
            ("inquiry", { $0.inquiry.rawValue }), ("visibility_lag", { text($0.visibilityLag) }),
            ("status_retention", { text($0.statusRetention) }), ("cancel", { $0.cancel.rawValue }),
            ("enforces_not_after", { String($0.enforcesNotAfter) }),
            ("authorization_life", { text($0.authorizationLife) }), ("cancel_deadline", { text($0.cancelDeadline) }),
            ("cancel_reverses_sale", { String($0.cancelReversesSale) }), ("listing", { String($0.listing) }),
            ("refund_visibility", { $0.refundVisibility.rawValue }),
            ("max_request_life", { text($0.maxRequestLife) }), ("clock_skew", { text($0.clockSkew) }),
        ]
    }

    /// The keys in which the contract differs from the configured one, each with both values. What a file leaves out
    /// is as in its base, and not as it is configured.
    var differences: [String] {
        ContractTrials.keys.compactMap { name, value in
            let (before, after) = (value(present), value(changed))
            return before == after ? nil : "\(name): \(before) is \(after) in the file"
        }
    }

    /// Why the daemon would not start with the contract.
    var warnings: [String] {
        changed.traps(under: configuration.assumptions).map {
            "the daemon refuses this contract: \($0.name.rawValue): \($0.explanation)"
        }
    }

    /// One decision that another row would make, or of which that is not known.
    struct Finding {
        let payment: PaymentID
        let entry: AuditEntry
        let tried: TriedDecision

        func line(as format: OutputFormat) -> String {
            let (row, now, facts): (String, String?, String) =
                switch tried {
                case .same(let row): (row, row, "")
                case .other(let recorded, let now, let facts): (recorded, now, facts)
                case .unknown(let row, let facts): (row, nil, facts)
                }
            guard format == .text else {
                return PaymentLine.json([
                    "payment_id": payment.text, "sequence": String(entry.sequence), "type": entry.type.rawValue,
                    "leg": entry.leg.map(String.init) ?? "", "row": row, "verdict": now == nil ? "unknown" : "other",
                    "now": now ?? "", "facts": facts,
                ])
            }
            let place = "\(payment)  \(entry.sequence)  \(entry.type.rawValue) leg \(entry.leg ?? 0)"
            guard let now else { return "\(place)  \(row): not known, for the trail does not tell \(facts)" }
            return "\(place)  \(row) becomes \(now): \(facts)"
        }
    }

    /// What became of all of them.
    struct Count {
        var payments = 0
        var all = 0
        var others = 0
        var unknown = 0

        /// Counts one more; whether it is to be told.
        mutating func add(_ tried: TriedDecision) -> Bool {
            all += 1
            switch tried {
            case .same: return false
            case .other: others += 1
            case .unknown: unknown += 1
            }
            return true
        }

        func line(as format: OutputFormat) -> String {
            guard format == .text else {
                return PaymentLine.json([
                    "payments": String(payments), "decisions": String(all), "others": String(others),
                    "unknown": String(unknown),
                ])
            }
            let rest = unknown == 0 ? "" : "; of \(unknown) it is not known"
            let payments = payments == 1 ? "1 payment" : "\(payments) payments"
            return "\(others) of \(all) recorded decisions of \(payments) would be made by another row\(rest)"
        }
    }

    /// Makes them again, of one payment or of the newest, and tells what differs.
    func run(
        of payment: PaymentID?, in store: any PaymentStore, tell: (Finding) -> Void
    ) async throws -> Count {
        var count = Count()
        if let payment {
            guard let known = try await store.payment(payment) else {
                throw CommandFailure(.finding, "there is no payment \(payment)")
            }
            guard known.legs.contains(where: { $0.provider == provider }) else {
                let providers = known.legs.map(\.provider.name).joined(separator: ", ")
                throw CommandFailure(
                    .usage, "--provider: '\(provider)'; allowed: \(providers), where \(payment) has its legs")
            }
            try await run(of: known, in: store, &count, tell)
            return count
        }
        var query = PaymentQuery(limit: min(last, 200))
        query.provider = provider
        while count.payments < last {
            query.limit = min(last - count.payments, 200)
            let page = try await store.payments(query)
            for payment in page.items { try await run(of: payment, in: store, &count, tell) }
            guard let next = page.next else { break }
            query.after = next
        }
        return count
    }

    private func run(
        of payment: Payment, in store: any PaymentStore, _ count: inout Count, _ tell: (Finding) -> Void
    ) async throws {
        var trial = ContractTrial(
            of: payment, at: provider, present: present, changed: changed, policy: configuration.policy)
        count.payments += 1
        try await store.eachEntry(of: payment.id) { entry in
            for tried in trial.take(entry) where count.add(tried) {
                tell(Finding(payment: payment.id, entry: entry, tried: tried))
            }
        }
    }
}
