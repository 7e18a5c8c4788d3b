internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// People who have undone what a provider has beyond our books: one proposes it, another one approves it, and the next
/// comparison that sees the same begins it. Somebody else may come first: a caller who comes again, a policy, whoever
/// changes it at the provider.
extension World {
    /// A run saw differences: some that are for people are looked into within a day.
    ///
    /// Where acknowledged rows may be lost, what our books lack may be what a caller was told of. No person can tell
    /// that by the books, and nobody here undoes it.
    mutating func callPeople(_ step: ComparisonStep) {
        guard plan.hasPeople, plan.keepsAcknowledgedRows else { return }
        for (index, found) in step.findings.enumerated() where found.outcome == .opened && found.action == .tell {
            guard UnbookedTransaction.isShown(by: found.evidence) else { continue }
            let bits = chance.bits(149, UInt64(now), UInt64(index))
            guard bits & 3 != 0 else { continue }
            people.atWork += 1
            push(
                .people(.proposeUndoing(found.discrepancy)),
                after: 60_000 + span(Int(Span.days(1).milliseconds), bits >> 8))
        }
    }

    mutating func proposeUndoing(_ id: DiscrepancyID) {
        guard let replica = desk(), let known = sites[activeSite].store.comparisons.discrepancies[id] else { return }
        let context = deskContext(replica)
        let request = RepairRequest(
            payment: nil, target: .discrepancy(id), action: .undo, evidence: Repair.Evidence(text: "nobody sold it"),
            isAgainstProvider: false, version: known.version, by: World.proposer, lasts: .days(7))
        do throws(RepairRefusal) {
            let (changed, repair) = try known.proposing(request, context.repairTable, at: context.now)
            guard isKept(changed, repair, replica) else { return }
            people.atWork += 1
            let bits = chance.bits(151, UInt64(now), UInt64(people.atWork))
            push(
                .people(.decideUndoing(repair: repair.id)),
                after: 60_000 + span(Int(Span.days(1).milliseconds), bits >> 8))
        } catch {
            return  // It is over, or somebody was first: there is nothing to undo for them.
        }
    }

    mutating func decideUndoing(_ id: String) {
        guard let replica = desk(), let repair = sites[activeSite].store.repairs[id],
            case .discrepancy(let discrepancy) = repair.target,
            let known = sites[activeSite].store.comparisons.discrepancies[discrepancy]
        else { return }
        let context = deskContext(replica)
        let bits = chance.bits(157, UInt64(now), UInt64(people.atWork))
        let decision = Repair.Decision(
            isApproved: bits & 7 != 0, by: bits >> 4 & 7 == 0 ? World.proposer : "ben", at: context.now,
            reason: "nobody sold it")
        do throws(RepairRefusal) {
            let (changed, decided) = try known.deciding(repair, decision, context.repairTable)
            _ = isKept(changed, decided, replica)
        } catch {
            return  // What changed since is for the people who see it next.
        }
    }

    private mutating func isKept(_ discrepancy: Discrepancy, _ repair: Repair, _ replica: Int) -> Bool {
        let site = replicas[replica].site
        guard takesWrites(replica) else { return false }
        do throws(StoreFailure) {
            let change = try sites[site].store.changing(
                discrepancy, with: repair, overlooking: does(.ownRepairApproved) ? .repairs : [])
            return change.map { self.change($0, at: site) } ?? false
        } catch {
            return false
        }
    }
}
