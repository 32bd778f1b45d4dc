package grid

// StyleLimit, ClusterLimit and clusterBytes are the sizes at which the side tables are rebuilt. The others are hard
// limits: a cell has 24 bits for a style and 21 for a cluster.
const (
	StyleLimit   = 1 << 16
	ClusterLimit = 1 << 16
	clusterBytes = 4 << 20
	clusterMax   = 1 << 20
	linkBytesMax = 32 << 20
)

// Full reports whether the table should be rebuilt.
func (s *StyleTable) Full() bool { return len(s.List) > max(StyleLimit, s.limit) }

// Full reports whether the table should be rebuilt.
func (c *ClusterTable) Full() bool {
	return len(c.List) > max(ClusterLimit, c.limit) || c.bytes > max(clusterBytes, c.byteLimit)
}

// CompactStyles rebuilds the styles. It keeps the lasting styles, which the scrollback refers to, and those in use on
// screens, which must be all screens that share the tables.
func (tb *Tables) CompactStyles(screens []*Screen) {
	inflate(screens)
	old := tb.Styles.List
	var next StyleTable
	next.Init()
	next.List = append(next.List[:0:0], old[:LastingStyles]...)
	next.Grow()
	eachRow(screens, func(r *Row) {
		for i, c := range r.Cells[:r.Used] {
			if id := c.Style(); id >= LastingStyles {
				r.Cells[i] = c.WithStyle(next.ID(&old[id]))
			}
		}
	})
	next.limit = 2 * len(next.List)
	tb.Styles = next
}

// CompactClusters rebuilds the clusters. It keeps those in use on screens, which must be all screens that share the
// tables.
func (tb *Tables) CompactClusters(screens []*Screen) {
	inflate(screens)
	old := tb.Clusters.List
	var next ClusterTable
	eachRow(screens, func(r *Row) {
		for i, c := range r.Cells[:r.Used] {
			if c&CellCluster != 0 {
				r.Cells[i] = c&^cellContentMask | Cell(next.ID([]byte(old[c.Content()])))
			}
		}
	})
	next.limit, next.byteLimit = 2*len(next.List), 2*next.bytes
	tb.Clusters = next
}

// inflate converts all rows to cells that refer to the tables. Call it before reading the lists, because it adds the
// styles and clusters of packed rows.
func inflate(screens []*Screen) {
	for _, s := range screens {
		s.InflateAll()
	}
}

// eachRow calls f for every row.
func eachRow(screens []*Screen, f func(*Row)) {
	for _, s := range screens {
		for _, r := range s.all() {
			f(r)
		}
	}
}
