package vt10x

import (
	vt "github.com/hinshun/vt10x"

	"github.com/longterm-dev/longterm/vterm"
)

const (
	// maxEntries is the number of styles, clusters or links at which unused ones are dropped.
	maxEntries = 4096
	// maxTextBytes is the limit for the text of clusters and links.
	maxTextBytes = 1 << 20
)

// tables holds the entries that cells refer to. Frames share the slices, so they only grow or are replaced as a whole;
// the maps find an existing entry.
type tables struct {
	styles   []vterm.Style // 0 is the default style
	clusters []string
	links    []vterm.Link // 0 is unused

	styleIDs   map[vterm.Style]vterm.StyleID
	clusterIDs map[string]int
	linkIDs    map[vterm.Link]vterm.LinkID
	lastStyle  vterm.Style // the last looked up style, and its id
	lastID     vterm.StyleID

	text           int // bytes in clusters and links
	live, liveText int // size and text that remained after the last compaction
}

func (t *tables) style(s vterm.Style) vterm.StyleID {
	if s == t.lastStyle {
		return t.lastID
	}
	id, ok := t.styleIDs[s]
	if !ok && s != (vterm.Style{}) {
		if t.styleIDs == nil {
			t.styleIDs = map[vterm.Style]vterm.StyleID{}
		}
		id = vterm.StyleID(len(t.styles))
		t.styles = append(t.styles, s)
		t.styleIDs[s] = id
	}
	t.lastStyle, t.lastID = s, id
	return id
}

func (t *tables) cluster(s string) int {
	i, ok := t.clusterIDs[s]
	if !ok {
		if t.clusterIDs == nil {
			t.clusterIDs = map[string]int{}
		}
		i = len(t.clusters)
		t.clusters = append(t.clusters, s)
		t.clusterIDs[s] = i
		t.text += len(s)
	}
	return i
}

func (t *tables) link(l vterm.Link) vterm.LinkID {
	id, ok := t.linkIDs[l]
	if !ok {
		if t.linkIDs == nil {
			t.linkIDs = map[vterm.Link]vterm.LinkID{}
			t.links = make([]vterm.Link, 1)
		}
		id = vterm.LinkID(len(t.links))
		t.links = append(t.links, l)
		t.linkIDs[l] = id
		t.text += len(l.ID) + len(l.URI)
	}
	return id
}

func (t *tables) size() int { return len(t.styles) + len(t.clusters) + len(t.links) }

// needsCompaction reports whether the tables need a compaction. Entries that survived the last one do not count: otherwise a
// screen that needs that much would be compacted at each Write.
func (t *tables) needsCompaction() bool {
	return t.size() > maxEntries+2*t.live || t.text > maxTextBytes+2*t.liveText
}

// compact rebuilds the tables from the entries that the screens and pens refer to. Ids change, so every row counts as
// changed.
func (e *Engine) compact() {
	old := e.tables
	e.tables = tables{styles: []vterm.Style{{}}}
	e.pen = e.relink(&old, e.pen)
	e.saved.pen = e.relink(&old, e.saved.pen)
	ids := make([]vt.Color, len(old.styles)) // 0: not yet moved
	for _, behind := range [...]bool{false, true} {
		for _, row := range e.grid.screen(behind) {
			for x := range row {
				e.convertGlyph(&old, &row[x], ids)
			}
		}
	}
	for _, g := range [...]*vt.Glyph{&e.grid.cur.Attr, &e.grid.saved.Attr} {
		g.FG, g.BG = vt.DefaultFG, kindErased
	}
	e.live, e.liveText = e.size(), e.text
	e.dirty, e.resized, e.bothScreens = true, true, true
}

// convertGlyph converts a glyph from the old tables to the new ones.
func (e *Engine) convertGlyph(old *tables, g *vt.Glyph, ids []vt.Color) {
	if id := int(g.FG); id < len(ids) && id > 0 {
		if ids[id] == 0 {
			ids[id] = vt.Color(e.style(e.relink(old, old.styles[id])))
		}
		g.FG = ids[id]
	}
	if g.BG == kindCluster || g.BG == kindWideCluster {
		if i := int(g.Char); i < len(old.clusters) {
			g.Char = rune(e.cluster(old.clusters[i]))
		}
	}
}

// relink converts a style's link from the old tables to the new ones.
func (e *Engine) relink(old *tables, s vterm.Style) vterm.Style {
	if s.Link != 0 {
		s.Link = e.link(old.links[s.Link])
	}
	return s
}
