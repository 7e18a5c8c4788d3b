extension Schema {
    /// The fifth schema: when what a provider did for a leg was asked for. Legs that were written before are taken to
    /// have been asked for when their payment changed last.
    static let version5 = """
        ALTER TABLE legs ADD COLUMN asked_at INTEGER;
        ALTER TABLE compared_positions ADD COLUMN ours_asked_at INTEGER;
        """
}
