package layout

import "testing"

// FEATURES: R76
func TestGrid(t *testing.T) {
	cases := []struct {
		w, h, n    int
		cols, rows int // of the arrangement; panes shown may be fewer than n
	}{
		{80, 24, 1, 1, 1}, {160, 48, 2, 2, 1}, {80, 48, 2, 1, 2}, {160, 48, 4, 2, 2}, {240, 72, 9, 3, 3}, {500, 200, 1, 1, 1},
	}
	for _, c := range cases {
		got := Grid(Rect{0, 0, c.w, c.h}, c.n, 1)
		xs, ys := map[int]bool{}, map[int]bool{}
		for _, r := range got {
			xs[r.X], ys[r.Y] = true, true
		}
		if len(got) != c.n || len(xs) != c.cols || len(ys) != c.rows {
			t.Errorf("%d panes in %d×%d: %v; want %d×%d", c.n, c.w, c.h, got, c.cols, c.rows)
		}
	}
}

// TestGridInvariants checks that for any size the panes are inside, do not overlap, leave the separators free and are
// not empty, and at least one is shown.
func TestGridInvariants(t *testing.T) {
	for _, w := range []int{1, 2, 9, 10, 20, 21, 33, 80, 137, 500} {
		for _, h := range []int{1, 2, 3, 4, 5, 24, 51, 200} {
			for n := 1; n <= 60; n = n*3/2 + 1 {
				panes := Grid(Rect{0, 0, w, h}, n, 1)
				if len(panes) == 0 || len(panes) > n {
					t.Fatalf("%d panes in %d×%d: %v", n, w, h, panes)
				}
				taken := map[[2]int]bool{}
				for _, r := range panes {
					if r.W < 1 || r.H < 1 || r.X < 0 || r.Y < 0 || r.X+r.W > w || r.Y+r.H > h {
						t.Fatalf("%d panes in %d×%d: %v", n, w, h, r)
					}
					for x := r.X; x <= r.X+r.W && x < w; x++ { // the separator included
						for _, y := range []int{r.Y, r.Y + r.H - 1} {
							if taken[[2]int{x, y}] && !(r.H == 1) {
								t.Fatalf("%d panes in %d×%d overlap at %d,%d: %v", n, w, h, x, y, panes)
							}
						}
					}
					for x := r.X; x <= r.X+r.W; x++ {
						for y := r.Y; y < r.Y+r.H; y++ {
							taken[[2]int{x, y}] = true
						}
					}
				}
			}
		}
	}
}
