internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// What the machine of a run orders, each order an event of its own, so that everything else comes in between.
extension World {
    /// Puts an order on its way.
    mutating func give(_ order: ComparisonOrder, _ replica: Int, _ provider: Int) {
        let execution = replicas[replica].courses[provider].execution
        let number = replicas[replica].courses[provider].orders
        replicas[replica].courses[provider].orders += 1
        let job = ComparisonJob(
            replica: replica, incarnation: replicas[replica].incarnation, provider: provider, execution: execution,
            order: order, number: number)
        let bits = chance.bits(97, UInt64(replica), UInt64(provider) << 32 | number, execution)
        let isFar =
            switch order {
            case .readPage, .ask: true
            default: false
            }
        push(.compare(.order(comparing.put(job))), after: isFar ? 5 + span(150, bits) : 1 + span(3, bits))
    }

    mutating func performComparisonJob(_ slot: Int) {
        guard let job = comparing.take(slot), carriesOn(job.replica, job.incarnation),
            replicas[job.replica].courses[job.provider].execution == job.execution,
            let run = replicas[job.replica].courses[job.provider].run
        else { return }
        if let answer = job.answer { return hear(answer, job) }
        guard takesWrites(job.replica) else { return fail(job, .store(World.storeIsAway)) }
        let (a, b) = (UInt64(job.provider), UInt64(bitPattern: run.window.to.milliseconds) << 8 | UInt64(run.attempt))
        let c = UInt64(job.replica) << 40 | job.number
        let d = job.execution << 16 | UInt64(replicas[job.replica].incarnation & 0xFFFF)
        if let bits = strikes(.comparisonInterrupted, a, b, c, d) {
            // Half of them after the order was carried out, with nobody left to take in what came of it.
            if bits >> 40 & 1 == 0 { _ = carryOut(job, run, a, b, c, d) }
            return crash(job.replica, restartAfter: downtime(bits))
        }
        if strikes(.comparisonFailed, a, b, c, d) != nil { return fail(job, .store(World.storeIsAway)) }
        let outcome = carryOut(job, run, a, b, c, d)
        if case .record = job.order, let bits = strikes(.replicaPaused, a, b, c, d) { pause(job.replica, bits) }
        switch outcome {
        case .event(let event):
            if case .ask = job.order, let bits = strikes(.inquirySlow, a, b, c, d) {
                var late = job
                late.answer = event
                return push(.compare(.order(comparing.put(late))), after: 5_000 + span(120_000, bits))
            }
            hear(event, job)
        case .failed(let trouble): fail(job, trouble)
        }
    }

    private mutating func hear(_ event: ComparisonEvent, _ job: ComparisonJob) {
        run(.event(event), job.replica, job.provider)
    }

    private mutating func fail(_ job: ComparisonJob, _ trouble: ComparisonRunnerMachine.Trouble) {
        run(.failed(trouble), job.replica, job.provider)
    }

    private enum OrderOutcome {
        case event(ComparisonEvent)
        case failed(ComparisonRunnerMachine.Trouble)
    }

    private mutating func carryOut(
        _ job: ComparisonJob, _ run: ComparisonRun, _ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64
    ) -> OrderOutcome {
        let site = replicas[job.replica].site
        if let event = read(job.order, run, at: site) { return .event(event) }
        switch job.order {
        case .readPage(let cursor, let limit): return page(job, run, cursor, limit, a, b, c, d)
        case .ask(let questions): return .event(.answers(answers(to: questions, job.provider, a, b, c, d)))
        case .carryOut(let orders):
            for order in orders where !settle(order, job.replica, d) { return .failed(.store(World.storeIsAway)) }
            return .event(.carriedOut)
        case .record(let step): return record(step, job)
        default: return .failed(.store(World.storeIsAway))
        }
    }

    /// What a store is asked for; nil for what is not read from it, and for sums that do not fit.
    private func read(_ order: ComparisonOrder, _ run: ComparisonRun, at site: Int) -> ComparisonEvent? {
        let name = run.provider
        let store = sites[site].store
        switch order {
        case .readStanding: return .standing(store.comparisons.standing[name] ?? NetSums())
        case .lookUp(let questions, let part):
            let asked = Set(questions.map(\.key))
            let listed = part.map { store.comparisons.listedKeys(at: name, in: $0, limit: .max) } ?? []
            return .known(known(questions + listed.filter { !asked.contains($0.key) }, at: name, store))
        case .readOurs(let cursor, let limit):
            return .ours(store.changedPositions(at: name, in: run.booksWindow, after: cursor, limit: limit))
        case .readUnsettled(let key, let limit):
            return .unsettled(store.unsettledPositions(at: name, after: key, limit: limit))
        case .readDiscrepancies(let ids):
            return .discrepancies(store.comparisons.discrepancies(ids))
        case .readDifferences:
            do throws(Money.Failure) {
                return .differences(try store.comparisons.explainedDifferences(at: name))
            } catch {
                return nil
            }
        default: return nil
        }
    }

    private mutating func page(
        _ job: ComparisonJob, _ run: ComparisonRun, _ cursor: String?, _ limit: Int, _ a: UInt64, _ b: UInt64,
        _ c: UInt64, _ d: UInt64
    ) -> OrderOutcome {
        if outages[job.provider] > now || storms[job.provider] > now {
            return .failed(.listing(ListingFailure(.passing, code: "http_503")))
        }
        if cursor != nil, strikes(.cursorRefused, a, b, c, d) != nil { return .event(.cursorRefused) }
        let staleBy = staleness(job.provider, a, b, c, d)
        return .event(.page(listed(job.provider, run, after: cursor, limit: limit, staleBy: staleBy)))
    }

    /// How old the state is that a listing, or the answer to one question of a run, shows.
    private mutating func staleness(_ provider: Int, _ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64) -> Span {
        let lag = plan.providers[provider].contract.visibilityLag
        guard lag > .zero, let bits = strikes(.listingStale, a, b, c, d) else { return .zero }
        return .milliseconds(1 + span(Int(lag.milliseconds), bits))
    }

    private mutating func answers(
        to questions: [KeyQuestion], _ provider: Int, _ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64
    ) -> [EffectKey: KeyAnswer] {
        let isDown = outages[provider] > now || storms[provider] > now
        var answers: [EffectKey: KeyAnswer] = [:]
        for question in questions {
            let word = Chance.word(question.key.text)
            if isDown || strikes(.inquiryFailed, a ^ word, b, c, d) != nil {
                answers[question.key] = does(.silenceTakenForAbsence) ? .absent : .unavailable
            } else {
                let staleBy = staleness(provider, a ^ word, b, c, d)
                answers[question.key] = providers[provider].find(question, at: time, staleBy: staleBy)
            }
        }
        return answers
    }

    private mutating func record(_ step: ComparisonStep, _ job: ComparisonJob) -> OrderOutcome {
        guard let token = replicas[job.replica].courses[job.provider].runner?.token,
            let result = written(step, job.replica, token)
        else { return .failed(.store(World.storeIsAway)) }
        return .event(.recorded(result))
    }

    /// Writes a step at the replica's site; nil if it contradicts itself, or a sum does not fit.
    mutating func written(_ step: ComparisonStep, _ replica: Int, _ token: LeaseToken) -> StepResult? {
        let site = replicas[replica].site
        let before = sites[site].store.comparisons.runs[step.run.id]
        let result: StepResult
        do throws(StoreFailure) {
            result = try sites[site].store.comparisons.judge(step, token, overlooking: comparisonLaxness)
        } catch {
            return nil
        }
        guard case .recorded(let version) = result, let before else { return result }
        guard change(.step(written(step), version: version), at: site) else { return nil }
        if counts(site) { emit(.compared(.recorded(step, before: before, replica: replica, token: token))) }
        callPeople(step)
        return result
    }
}
