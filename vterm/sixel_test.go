package vterm

import "testing"

// TestSixel places pictures on a screen of 10×4 cells of 8×16 pixels.
//
// FEATURES: R30
func TestSixel(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"one cell", "\x1bP7;1q\"1;1;8;6~\x1b\\x", "x @0,1 1"},
		{"cursor under the left edge, on the last line", "ab\x1bPq\"1;1;17;33~\x1b\\", "ab###/  ###/  ### @2,2 1"},
		{"text after a line feed", "\x1bPq\"1;1;16;32~\x1b\\\r\nx", "##/##/x @2,1 1"},
		{"right of it with 8452", "\x1b[?8452h\x1bPq\"1;1;16;32~\x1b\\x", "##/##x @1,3 1"},
		{"right of it where there is no room", "\x1b[?8452h\x1b[9G\x1bPq\"1;1;24;6~\x1b\\x", "        ##/x @1,1 1"},
		{"scrolling", "\x1b[4;1Ha\x1bPq\"1;1;8;48~\x1b\\", "/a#/ #/ # @3,1 1"},
		{"DECSDM", "\x1b[?80h\x1b[3;3Hx\x1bPq\"1;1;8;16~\x1b\\y", "#//  xy @2,4 1"},
		{"size as drawn", "\x1bP9q!17~-~$-~\x1b\\", "###/### @1,0 1"},
		{"pixels twice as high without raster attributes", "\x1bPq~-~\x1b\\", "#/# @1,0 1"},
		{"pixels as high as the macro says", "\x1bP2q~-~\x1b\\", "#/#/#/# @3,0 1"},
		{"pixels wider than high", "\x1bPq\"1;4;8;6~\x1b\\", "#### @0,0 1"},
		{"nothing drawn", "\x1bPq#0;2;0;0;0\x1b\\x", "x @0,1 0"},
	} {
		term := newTest(t, 10, 4, c.input)
		if got := picture(term); got != c.want {
			t.Errorf("%s: %q gives\n\t%q, want\n\t%q", c.name, c.input, got, c.want)
		}
		if what := broken(term); what != "" {
			t.Errorf("%s: %s", c.name, what)
		}
	}
}
