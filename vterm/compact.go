package vterm

// Sizes at which the side tables are rebuilt, and what they may never exceed: a cell has
// 24 bits for a style and 21 for a cluster.
const (
	styleLimit   = 1 << 16
	clusterLimit = 1 << 16
	clusterBytes = 4 << 20
	clusterMax   = 1 << 20
	linkBytesMax = 32 << 20
)

// compactTables rebuilds tables that grew too large with what the screens still show.
// Frames taken before keep the old ones; the next frame is a full one.
func (t *Terminal) compactTables() {
	if len(t.tables.styles.list) > max(styleLimit, t.tables.styles.limit) {
		t.compactStyles()
	}
	if len(t.tables.clusters.list) > max(clusterLimit, t.tables.clusters.limit) || t.tables.clusters.bytes > max(clusterBytes, t.tables.clusters.byteLimit) {
		t.compactClusters()
	}
}

// screens are those there are.
func (t *Terminal) screens() []*screen {
	if t.alternate == nil {
		return []*screen{t.primary}
	}
	return []*screen{t.primary, t.alternate}
}

// eachRow calls f for every row of both screens, as it is.
func (t *Terminal) eachRow(f func(*row)) {
	for _, s := range t.screens() {
		for _, r := range s.window() {
			f(r)
		}
	}
}

// thawAll thaws all rows, before the tables change that drafts refer to.
func (t *Terminal) thawAll() {
	for _, s := range t.screens() {
		s.thawAll()
	}
}

// compactStyles keeps the lasting styles, which the history refers to, and those in use.
func (t *Terminal) compactStyles() {
	t.thawAll()
	old := t.tables.styles.list
	var next styleTable
	next.init()
	next.list = append(next.list[:0:0], old[:lastingStyles]...)
	next.grow()
	t.eachRow(func(r *row) {
		for i, c := range r.cells[:r.used] {
			if id := c.Style(); id >= lastingStyles {
				r.cells[i] = c.WithStyle(next.lookup(&old[id]))
			}
		}
	})
	next.limit = 2 * len(next.list)
	t.tables.styles = next
	t.penChanged()
	t.sgrSeen.clear()
	t.blank, t.blankBG = 0, 0
	t.tablesVersion = t.tables.version
	t.tables.version++
}

func (t *Terminal) compactClusters() {
	t.thawAll()
	old := t.tables.clusters.list
	var next clusterTable
	t.eachRow(func(r *row) {
		for i, c := range r.cells[:r.used] {
			if c&CellCluster != 0 {
				r.cells[i] = c&^cellContentMask | Cell(next.intern([]byte(old[c.Content()])))
			}
		}
	})
	next.limit, next.byteLimit = 2*len(next.list), 2*next.bytes
	t.tables.clusters = next
	t.tablesVersion = t.tables.version
	t.tables.version++
}
