package graphics

import "math/bits"

// SixelImage returns a sixel picture, undecoded, and its size in square pixels, or nil for an empty one. macro is the
// first parameter of the DCS.
func SixelImage(data []byte, macro int) (img *Image, wide, high int) {
	w, h, shape := sixelSize(data)
	if w == 0 || h == 0 {
		return nil, 0, 0
	}
	if shape == (aspect{}) {
		shape = macroAspect(macro)
	}
	img = &Image{Format: Sixel, Width: w, Height: h, Data: append([]byte(nil), data...)}
	wide, high = shape.scale(w, h)
	return img, wide, high
}

// aspect is the ratio of height to width of a sixel picture's pixels.
type aspect struct{ high, wide int }

// macroAspect returns the aspect chosen by the first parameter of the DCS, in hundredths, without raster attributes
// (VT340, "Sixel Graphics"; values between as in xterm).
func macroAspect(macro int) aspect {
	if macro < 0 || macro > 9 {
		macro = 0
	}
	return aspect{[...]int{200, 200, 450, 300, 250, 183, 150, 130, 112, 100}[macro], 100}
}

// scale makes pixels square by stretching one side, by 10 at most.
func (a aspect) scale(w, h int) (int, int) {
	switch {
	case a.high > a.wide:
		return w, h * min(a.high, 10*a.wide) / a.wide
	case a.wide > a.high:
		return w * min(a.wide, 10*a.high) / a.high, h
	}
	return w, h
}

// sixelSideMax limits a picture's sides, in pixels.
const sixelSideMax = 1 << 14

// sixelSize returns the extent of a picture: the maximum of its raster attributes and its drawn area. The latter counts
// whole bands, but with raster attributes only set pixels, as pictures seldom end with a band. The aspect is that of
// the raster attributes, or zero.
func sixelSize(data []byte) (w, h int, shape aspect) {
	x, bands, n, repeat, declared := 0, 1, 0, 1, false
	var params []int
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c >= '?' && c <= '~':
			x = min(x+repeat, sixelSideMax)
			w, repeat = max(w, x), 1
			set := 6
			if declared {
				set = bits.Len8(c - '?')
			}
			h = max(h, (bands-1)*6+set)
		case c == '$':
			x = 0
		case c == '-':
			x = 0
			bands = min(bands+1, sixelSideMax/6)
		case c == '!' || c == '"' || c == '#':
			params, n = sixelParams(data[i+1:], params[:0])
			i += n
			if c == '!' && len(params) > 0 {
				repeat = min(max(params[0], 1), sixelSideMax)
			}
			if c == '"' && len(params) >= 2 && params[0] > 0 && params[1] > 0 {
				shape = aspect{params[0], params[1]}
			}
			if c == '"' && len(params) >= 4 {
				declared = params[2] > 0 && params[3] > 0
				w, h = max(w, min(params[2], sixelSideMax)), max(h, min(params[3], sixelSideMax))
			}
		}
	}
	return w, h, shape
}

// sixelParams parses numbers separated by semicolons. It also returns the number of bytes read.
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
