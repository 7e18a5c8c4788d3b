internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// Sites' databases and the witness, as keepers and promotions see them.
extension World {
    /// A keeper's question reaches what it is about; returns the answer.
    mutating func reach(
        _ job: SiteKeeperMachine.Job, _ replica: Int, _ began: SteadyMoment
    ) -> SiteKeeperMachine.Input? {
        let site = replicas[replica].site
        // Made up for: it was asked then.
        let ago = replicas[replica].isAwake ? .zero : steadyNow - began
        switch job {
        case .askWitness(let epoch, let known):
            guard seesWitness(site), replicas[replica].partitionedUntil <= now else {
                return .witnessed(epoch: epoch, .failure(World.unreachable), began: began)
            }
            let claim = WitnessClaim(
                sites[site].name, epoch: epoch, lease: siteSettings(replica).lease - ago, skew: siteSkew,
                witness: known)
            do throws(StoreFailure) {
                let isOurs = try witness.write(claim, at: witnessTime)
                return .witnessed(epoch: epoch, .success(isOurs), began: sabotaged(began))
            } catch {
                return .witnessed(epoch: epoch, .failure(error), began: began)
            }
        case .renew(let renewal, _):
            guard sites[site].isUp, replicas[replica].partitionedUntil <= now else {
                return .renewed(epoch: renewal.epoch, .failure(World.unreachable), began: began)
            }
            var renewal = renewal
            renewal.lease = renewal.lease - ago
            return .renewed(epoch: renewal.epoch, renew(renewal, at: site), began: sabotaged(began))
        case .askPeer: return .peerAnswered(peerAnswer(replica))
        case .noteAlive(let epoch):
            let row = sites[site].row
            guard sites[site].isWritable, sites[site].isUp, replicas[replica].partitionedUntil <= now,
                row.epoch == epoch, !row.phase.isOver
            else { return nil }
            var alive = row
            alive.aliveAt = storeTime(site)
            write(alive, at: site)
            return nil
        case .read, .noteKeySpaces, .apply, .look, .note:
            guard sites[site].isUp, replicas[replica].partitionedUntil <= now else {
                return .read(.failure(World.unreachable), began: began)
            }
            return .read(.success(reading(site)), began: began)
        }
    }

    /// From when a lease counts that was given now.
    private func sabotaged(_ began: SteadyMoment) -> SteadyMoment {
        if does(.leaseHasNoEnd) { return began + .days(30) }
        return does(.leaseCountsFromAnswer) ? began + .seconds(12) : began
    }

    /// What a site's database says of itself.
    func reading(_ site: Int) -> SiteReading {
        var database = SiteDatabase(isWritable: sites[site].isWritable)
        if sites[site].isWritable {
            let isFollowed = link.source == site && link.hasStandby
            let asPlanned: SiteReplication = plan.replication == .synchronous ? .synchronous : .asynchronous
            database.replication = isFollowed ? asPlanned : .none
        } else {
            let source = sites[link.source]
            database.isStreaming = link.isUp && link.hasStandby && source.isUp && !link.isCut
            database.received = LogPosition(offset: UInt64(link.before + link.applied))
            database.replayed = database.received
        }
        return SiteReading(row: sites[site].row, now: storeTime(site), database: database)
    }

    /// What a replica of the other site says, if one can be reached.
    private func peerAnswer(_ replica: Int) -> PeerAnswer {
        let site = replicas[replica].site
        guard !link.isCut, replicas[replica].partitionedUntil <= now,
            let other = replicas.indices.first(where: {
                replicas[$0].site != site && replicas[$0].isUp && replicas[$0].partitionedUntil <= now
                    && replicas[$0].pausedUntil <= now
            })
        else { return .silent("no answer") }
        guard let row = replicas[other].right.row else { return .silent("it has not read its row yet") }
        return .knows(epoch: row.epoch, site: row.term?.site)
    }

    /// Prolongs the lease in a site's row.
    private mutating func renew(_ renewal: SiteRenewal, at site: Int) -> Result<SiteReading?, StoreFailure> {
        let row = sites[site].row
        guard sites[site].isWritable else { return .failure(World.unreachable) }
        guard row.epoch == renewal.epoch, !row.phase.isOver else { return .success(nil) }
        let isConfirmed = link.source == site && link.hasStandby && link.isUp
        let database = reading(site).database
        if plan.replication == .synchronous, link.source != site || link.hasStandby, !isConfirmed {
            return .failure(StoreFailure(.indeterminate, operation: "renew site", cause: "no standby confirmed"))
        }
        if renewal.proof == .standby, database.replication != .synchronous {
            return .failure(StoreFailure(.unavailable, operation: "renew site", cause: "no synchronous standby"))
        }
        let renewed = row.renewed(
            for: renewal.lease, by: renewal.proof, seen: database.replication, at: storeTime(site))
        write(renewed, at: site)
        return .success(reading(site))
    }

    /// Writes a site's row, and tells whoever follows.
    mutating func write(_ row: SiteRow, at site: Int) {
        sites[site].row = row
        tell(.site(row), from: site)
    }
}
