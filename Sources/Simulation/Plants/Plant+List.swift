internal import PaymentCore
internal import Reconciler

extension Plant {
    /// Every planted bug: what the store, the engine, the wire and the sites may get wrong, and changed rows of both
    /// tables. Each is found by the invariants named with it.
    public static let planted: [PlantedBug] =
        ofStores + ofWorkers + ofEngines + ofWires + ofSites + ofCallers + ofEffectRows + ofPaymentRows + ofComparisons
        + ofPeople

    /// The planted bug of that name; nil if there is none.
    public static func planted(named name: String) -> PlantedBug? { planted.first { $0.plant.name == name } }

    /// What is not planted, because hundreds of seeds did not show it, with the reason as far as it is understood.
    public static let notPlanted: [(sabotage: Sabotage, reason: String)] = [
        (
            .answersPassForInquiries,
            "an answer is dated by the beginning of its request: an older one counts no more than an older read"
        ),
        (
            .staleReadsCountInRecovery,
            "a promotion waits for the site's lease, longer than any visibility lag here; the search finds it (C12)"
        ),
        (
            .lostNotAfterForgotten,
            "a request whose row was lost must outlive the promotion and the reads after it; the search finds it (C27)"
        ),
        (
            .silenceTakenForAbsence,
            "a provider is asked where something seems to differ, and then it mostly does"
        ),
    ]

    static func sabotaged(
        _ sabotage: Sabotage, _ sentence: String, within seeds: Int, breaks invariants: Set<Int>,
        in surroundings: Surroundings = Surroundings()
    ) -> PlantedBug {
        let plant = Plant(name: "\(sabotage)", sentence: sentence, sabotage: [sabotage], surroundings: surroundings)
        return PlantedBug(plant, withinSeeds: seeds, invariants: invariants)
    }

    static func breach(
        _ breach: EngineRules.Breach, _ sentence: String, within seeds: Int, breaks invariants: Set<Int>,
        in surroundings: Surroundings = Surroundings()
    ) -> PlantedBug {
        var plant = Plant(name: "\(breach)", sentence: sentence, surroundings: surroundings)
        plant.breaches = [breach]
        return PlantedBug(plant, withinSeeds: seeds, invariants: invariants)
    }

    static func bug(
        _ name: String, _ sentence: String, within seeds: Int, breaks invariants: Set<Int>,
        effectTable: EffectTable = .shipped, paymentTable: PaymentTable = .shipped,
        in surroundings: Surroundings = Surroundings()
    ) -> PlantedBug {
        let plant = Plant(
            name: name, sentence: sentence, effectTable: effectTable, paymentTable: paymentTable,
            surroundings: surroundings)
        return PlantedBug(plant, withinSeeds: seeds, invariants: invariants)
    }

    private static let ofStores: [PlantedBug] = [
        sabotaged(
            .versionIgnored, "the store takes a change that was made from an older version", within: 10,
            breaks: [11]),
        sabotaged(
            .leaseTokenIgnored, "the store takes changes under leases that ended", within: 10, breaks: [1, 11]),
        sabotaged(
            .duplicateCreateAccepted, "a second create under one key makes the payment anew", within: 5,
            breaks: [1, 2, 6, 11, 13]),
        sabotaged(
            .auditEntryDropped, "now and then an entry of the audit trail is lost", within: 5, breaks: [12, 13]),
        sabotaged(
            .secretInAudit, "the instrument's token is written into the audit trail", within: 5, breaks: [14]),
        sabotaged(
            .indeterminateCommitTakenForDone, "a commit of which nothing is known counts as done", within: 12,
            breaks: [9, 15]),
        sabotaged(
            .indeterminateCommitTakenForFailed, "a create of whose commit nothing is known is called failed",
            within: 30, breaks: [4]),
        sabotaged(
            .refundsNotReserved, "refunds are taken without reserving their amounts", within: 200,
            breaks: [1, 8, 11]),
    ]

    private static let ofWorkers: [PlantedBug] = [
        sabotaged(
            .sendsBeforeCommit, "requests leave before the change that decided them is durable", within: 5,
            breaks: [9]),
        sabotaged(
            .compensationNotRegistered, "voids and compensating refunds leave before they are durable", within: 5,
            breaks: [9]),
        breach(
            .takeoverForgotten, "whoever takes a payment over does not look at what was open", within: 5,
            breaks: [15]),
        sabotaged(
            .firstRequestsQueued, "the first request of an operation waits a minute in a queue", within: 5,
            breaks: [27]),
        sabotaged(
            .overdueHasLowerBound, "what is due for longer than a day is not looked for", within: 40, breaks: [15]),
        sabotaged(
            .givesUpAfterTries, "after some inquiries an undecided payment is left alone", within: 5,
            breaks: [15]),
        sabotaged(
            .pollsOnlyEvents, "what a crash left is not looked for by anybody", within: 5, breaks: [15]),
        sabotaged(
            .drainNeverEnds, "a replica that is told to stop waits for ever for work that ended", within: 20,
            breaks: [16]),
    ]

    /// Rules of the shipped engine. What no payment shows keeps a run from coming to rest, which 15 stands for.
    private static let ofEngines: [PlantedBug] = [
        breach(.jobsDoneTwice, "what a change calls for is begun twice", within: 5, breaks: [23]),
        breach(
            .failedCommitForgotten, "a change that the store did not take is not tried again", within: 30,
            breaks: [15]),
        breach(
            .leftoverRequestsDropped, "a request that arrives while a payment's last change is written is dropped",
            within: 150, breaks: [15]),
        breach(.leasesRenewedTooLate, "leases are prolonged once in twice their length", within: 15, breaks: [15]),
        breach(
            .storeClockIgnored, "what is due by the store's clock is looked at by the engine's own", within: 50,
            breaks: [15]),
        breach(
            .newerClaimIgnored, "a newer claim does not take the place of work under the older one", within: 150,
            breaks: [15, 16], in: .handedOverSlowly),
        breach(.sweepStopsWhenIdle, "nobody looks again once a sweep found nothing", within: 10, breaks: [15]),
        breach(
            .pauseForgotten, "what waited for a place is not looked for when one is free", within: 60, breaks: [15],
            in: .crowded),
        breach(
            .latchMarkedTooEarly, "a latch counts once the standby has what was written before it", within: 200,
            breaks: [12]),
        breach(
            .windowForgotten, "a window of recovery is not passed on to what is taken up", within: 45,
            breaks: [6, 7, 15], in: .lossyInDoubt),
        breach(
            .refundsOutsideWindow, "a refund that is asked for after lost rows is sent before it is asked about",
            within: 60, breaks: [24], in: .lossyLate),
        breach(
            .foundRefundsForgotten, "refunds that a comparison over lost rows finds are not taken in", within: 100,
            breaks: [1], in: .lossyLate),
        breach(
            .disputesUntold, "what a listing shows of disputes is not told to the payment", within: 60, breaks: [26],
            in: .disputed),
        breach(
            .unconfirmedJudged, "what is asked of a payment that is being confirmed is judged by its row", within: 60,
            breaks: [15], in: .lossy),
        breach(
            .drainingIgnored, "whoever is told to stop goes on beginning things", within: 5, breaks: [15],
            in: .handedOver),
        breach(
            .closedGateIgnored, "a request leaves although its site may not act", within: 10, breaks: [15],
            in: .fenced),
        breach(
            .leaseNotReleased, "a lease that ends without a change is kept", within: 60, breaks: [16],
            in: .handedOver),
        breach(
            .leasesNotAwaited, "whoever is told to stop does not wait for its claims and its leases", within: 60,
            breaks: [16], in: .handedOverSlowly),
        breach(
            .overtakenWriteTaken, "a request that another writer overtook is answered as if it was taken", within: 60,
            breaks: [3], in: .contended),
        breach(
            .uncertainInsertForgotten, "a payment of which it is not known whether it was written is called refused",
            within: 60, breaks: [15], in: .unsure),
    ]

    private static let ofWires: [PlantedBug] = [
        sabotaged(
            .readsJudgedByTheirEnd, "a status read is dated by its end instead of its beginning", within: 200,
            breaks: [1, 7, 15], in: .provablyDoubtful),
        sabotaged(
            .newKeyForEachAttempt, "each attempt goes out under a key of its own", within: 5, breaks: [2, 10]),
        sabotaged(
            .keyWithoutCaller, "keys are derived without the caller", within: 5, breaks: [5, 10]),
        sabotaged(
            .notificationsBelieved, "notifications are taken for status reads", within: 60,
            breaks: [1, 7, 8, 15, 23]),
        sabotaged(
            .newsOfAnybodyBelieved, "signed news count for the payment that they were delivered to", within: 60,
            breaks: [1, 7, 8, 15], in: .unasked),
        sabotaged(
            .sendTimeNotBounded, "a request leaves however long ago its intent was written", within: 10,
            breaks: [2, 7, 9]),
        sabotaged(
            .retentionIgnored, "keys count as kept for ever", within: 150, breaks: [2], in: .forgetful),
        sabotaged(
            .declinesTakenForBound, "declines count as bound to their key", within: 60, breaks: [1, 7], in: .unbound),
        sabotaged(
            .outcomeBestInsteadOfWorst, "the best outcome of all attempts counts instead of the worst", within: 60,
            breaks: [1, 7, 15]),
    ]

    private static let ofSites: [PlantedBug] = [
        sabotaged(
            .commitsCalledAcknowledged, "commits count as acknowledged although the standby follows behind",
            within: 10, breaks: [4, 6, 8, 12], in: .lossy),
        sabotaged(
            .recoverySkipped, "after a failover that lost rows, rows are trusted at once", within: 80,
            breaks: [1, 2, 4, 6, 7, 8], in: .lossy),
        sabotaged(
            .oldSiteGoesOn, "a site that lost its term goes on", within: 20, breaks: [11, 15]),
        sabotaged(
            .leaseHasNoEnd, "a site's lease, once it was given, does not end", within: 20, breaks: [11, 15],
            in: .divided),
        sabotaged(
            .leaseCountsFromAnswer, "a site's lease counts from its answer", within: 60, breaks: [11, 15],
            in: .divided),
        sabotaged(
            .promotedTooEarly, "a site is promoted although the lease of the other one runs", within: 20,
            breaks: [11, 15], in: .divided),
    ]

    private static let ofCallers: [PlantedBug] = [
        breach(
            .bodyNotCompared, "a key is not compared with what it was used for", within: 10, breaks: [4]),
        sabotaged(
            .acknowledgedBeforeDurable, "a create is answered before it is durable", within: 5, breaks: [3]),
        breach(
            .answerForgotten, "a settled answer is made anew for each repeat of its key", within: 70, breaks: [4],
            in: .repeated),
    ]
}
