internal import PaymentCore
internal import Reconciler

/// How many requests are answered in a second. It only reads.
struct ProbedRate: Sendable {
    let bench: ProbeBench

    /// All inquiries go to one endpoint: where the provider counts by endpoints, that is what is measured.
    private var property: ContractProperty {
        bench.provider.contract.endpointRequestsPerSecond == nil ? .requestsPerSecond : .endpointRequestsPerSecond
    }

    func look(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        let transaction = try bench.transaction(ProbeNames.status)
        var (good, bad) = (0, bench.settings.highestRate + 1)
        var rate = min(5, bench.settings.highestRate)
        var reason = ""
        while true {
            if let refused = try await refusal(at: rate, of: transaction) {
                (bad, reason) = (rate, refused)
            } else {
                good = rate
            }
            // Twice as many while nothing is refused, and then what lies between, to a tenth.
            let isClose = bad - good <= max(1, good / 10)
            guard !isClose, bad > 1 else { break }
            rate = bad > bench.settings.highestRate ? min(good * 2, bench.settings.highestRate) : (good + bad) / 2
            try await bench.sleep(.seconds(1))
        }
        if bad > bench.settings.highestRate {
            sights.add(
                property, .atLeast(.number(good)),
                "\(good) inquiries were answered within a second; more were not tried")
        } else {
            sights.add(
                property, .atMost(.number(max(1, good))),
                "of \(bad) inquiries within a second some were not answered (\(reason)), of \(good) all were")
        }
    }

    /// Sends so many inquiries over a second; why one of them was not answered, or `nil`.
    private func refusal(at rate: Int, of transaction: ProbedTransaction) async throws(ProbeFailure) -> String? {
        let (bench, clock) = (bench, bench.clock)
        let start = clock.now()
        let reasons = await withTaskGroup(of: String?.self) { group in
            for index in 0..<rate {
                group.addTask {
                    do {
                        try await clock.sleep(until: start + .milliseconds(Int64(index) * 1_000 / Int64(rate)))
                    } catch {
                        return "stopped"
                    }
                    let observation = await bench.provider.inquire(
                        InquiryOrder(
                            payment: transaction.payment, leg: 0, provider: bench.provider.name,
                            transactionKey: transaction.key))
                    return observation.status == .unavailable ? observation.reason ?? "unavailable" : nil
                }
            }
            var found: [String] = []
            for await reason in group { if let reason { found.append(reason) } }
            return found
        }
        await bench.count(rate)
        guard !reasons.contains("stopped") else { throw .stopped }
        return reasons.first
    }
}

/// How far the provider's clock is from ours, as its answers showed it.
struct ProbedClock: Sendable {
    let reading: ProviderClocks.Reading?

    func look(_ sights: inout ProbeSights) {
        guard let reading else {
            sights.add(.clockSkew, .nothing("its answers do not say what time it is"))
            return
        }
        let (offset, uncertainty) = (reading.offset.milliseconds, reading.uncertainty.milliseconds)
        sights.add(
            .clockSkew, .atMost(.span(.milliseconds(max(0, abs(offset) - uncertainty)))),
            "its clock is \(abs(offset)) ms \(offset < 0 ? "behind" : "ahead"), give or take \(uncertainty) ms")
    }
}
