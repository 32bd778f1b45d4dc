package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// sixel keeps a sixel picture as it came and covers the cells that it takes.
func (t *Terminal) sixel(_ *parse.Seq, data []byte) {
	w, h := sixelSize(data)
	if w == 0 || h == 0 {
		return
	}
	img := &Image{Format: ImageSixel, Width: w, Height: h, Data: append([]byte(nil), data...)}
	t.images.add(img)
	p := Placement{Image: img, Cols: cellsFor(w, t.opts.CellWidth), Rows: cellsFor(h, t.opts.CellHeight)}
	at := t.cur
	switch {
	case t.modes&modeSixelDisplay != 0: // DECSDM: at the top left, cursor unmoved
		t.moveTo(0, 0)
		t.placeImage(p, false)
		t.cur = at
	case t.modes&modeSixelRight != 0:
		t.placeImage(p, true)
		t.moveTo(t.cur.row, at.col+p.Cols)
	default:
		t.placeImage(p, true)
		t.index()
		t.moveTo(t.cur.row, at.col)
	}
}

// sixelSizeMax bounds a picture's sides in pixels.
const sixelSizeMax = 1 << 14

// sixelSize finds the extent of a picture: what its raster attributes say, or what is
// drawn, whichever is more.
func sixelSize(data []byte) (w, h int) {
	x, bands, n, repeat := 0, 1, 0, 1
	var params []int
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c >= '?' && c <= '~':
			x = min(x+repeat, sixelSizeMax)
			w, repeat = max(w, x), 1
			h = max(h, bands*6)
		case c == '$':
			x = 0
		case c == '-':
			x = 0
			bands = min(bands+1, sixelSizeMax/6)
		case c == '!' || c == '"' || c == '#':
			params, n = sixelParams(data[i+1:], params[:0])
			i += n
			if c == '!' && len(params) > 0 {
				repeat = min(max(params[0], 1), sixelSizeMax)
			}
			if c == '"' && len(params) >= 4 {
				w, h = max(w, min(params[2], sixelSizeMax)), max(h, min(params[3], sixelSizeMax))
			}
		}
	}
	return w, h
}

// sixelParams reads numbers between semicolons and how many bytes they take.
func sixelParams(b []byte, dst []int) ([]int, int) {
	v := 0
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			v = min(v*10+int(c-'0'), 1<<20)
		case c == ';':
			if len(dst) < 8 {
				dst = append(dst, v)
			}
			v = 0
		default:
			return append(dst, v), i
		}
	}
	return append(dst, v), len(b)
}

// graphicsAttributes is XTSMGRAPHICS: 256 registers, and the size of the screen.
func (t *Terminal) graphicsAttributes(s *parse.Seq) {
	item, action := s.Param(0, 0), s.Param(1, 0)
	switch {
	case item == 1 && action >= 1 && action <= 4:
		t.replyCSI("?1;0;256S")
	case item == 2 && (action == 1 || action == 4):
		t.replyCSI("?2;0;%d;%dS", t.cols*t.opts.CellWidth, t.rows*t.opts.CellHeight)
	default:
		t.replyCSI("?%d;%dS", item, 1+boolInt(item == 1 || item == 2))
	}
}
