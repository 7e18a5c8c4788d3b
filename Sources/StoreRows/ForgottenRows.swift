/// What comparisons remember no longer than the retention, in SQL. The words are those of the partial indexes.
package enum ForgottenRows {
    /// Positions that are settled, and were compared last before a moment. Both sides of them hold the same, so that
    /// they explain nothing, and one that comes back is taken in anew on both sides.
    package static func positions(before moment: String) -> String {
        """
        NOT unsettled AND compared_at < \(moment) AND coalesce(ours_net, 0) = coalesce(theirs_net, 0)
            AND (coalesce(ours_net, 0) = 0 OR ours_currency = theirs_currency)
        """
    }

    /// Runs that ended before a moment, but for the head of each provider's chain: the schedule goes on from there.
    package static func runs(before moment: String) -> String {
        """
        finished_at IS NOT NULL AND finished_at < \(moment) AND (kind <> 'scheduled' OR is_dry OR EXISTS (
            SELECT 1 FROM comparison_runs AS later
            WHERE later.provider = comparison_runs.provider AND later.kind = 'scheduled' AND NOT later.is_dry
                AND (later.window_to, later.attempt) > (comparison_runs.window_to, comparison_runs.attempt)))
        """
    }

    /// Discrepancies that were closed, and seen last, before a moment. One that explains a difference of money stays,
    /// as does one whose position is unsettled: a person closed it, and without it the next run would open it again.
    package static func discrepancies(before moment: String) -> String {
        """
        state = 'closed' AND closed_at < \(moment) AND last_seen_at < \(moment) AND NOT explains_money
            AND NOT coalesce((
                SELECT unsettled FROM compared_positions
                WHERE compared_positions.provider = discrepancies.provider
                    AND compared_positions.key = discrepancies.key), false)
        """
    }
}
