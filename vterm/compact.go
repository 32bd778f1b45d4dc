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

// full reports whether there are so many styles that they should be rebuilt.
func (s *styleTable) full() bool { return len(s.list) > max(styleLimit, s.limit) }

// full reports whether there are so many clusters that they should be rebuilt.
func (c *clusterTable) full() bool {
	return len(c.list) > max(clusterLimit, c.limit) || c.bytes > max(clusterBytes, c.byteLimit)
}

// compactStyles keeps the lasting styles, which the scrollback refers to, and those that the
// screens, which are all that share the tables, still show.
func (tb *tables) compactStyles(screens []*screen) {
	old := tb.styles.list
	var next styleTable
	next.init()
	next.list = append(next.list[:0:0], old[:lastingStyles]...)
	next.grow()
	eachRow(screens, func(r *row) {
		for i, c := range r.cells[:r.used] {
			if id := c.Style(); id >= lastingStyles {
				r.cells[i] = c.WithStyle(next.lookup(&old[id]))
			}
		}
	})
	next.limit = 2 * len(next.list)
	tb.styles = next
}

// compactClusters keeps the clusters that the screens, which are all that share the tables,
// still show.
func (tb *tables) compactClusters(screens []*screen) {
	old := tb.clusters.list
	var next clusterTable
	eachRow(screens, func(r *row) {
		for i, c := range r.cells[:r.used] {
			if c&CellCluster != 0 {
				r.cells[i] = c&^cellContentMask | Cell(next.intern([]byte(old[c.Content()])))
			}
		}
	})
	next.limit, next.byteLimit = 2*len(next.list), 2*next.bytes
	tb.clusters = next
}

// eachRow calls f for every row, thawed.
func eachRow(screens []*screen, f func(*row)) {
	for _, s := range screens {
		s.thawAll()
	}
	for _, s := range screens {
		for _, r := range s.window() {
			f(r)
		}
	}
}
