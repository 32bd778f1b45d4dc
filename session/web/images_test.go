package web

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// TestPage_RequestsImages checks that the page does not request images that it dropped before their turn, until it
// needs them again. It requests the newest ones first, each once.
//
// FEATURES: R112
func TestPage_RequestsImages(t *testing.T) {
	const script = `import { again, came, picture, show } from './images.js';
const asked = [], link = { turn: {}, write: (m) => asked.push(m.k) }, want = (k) => picture(k, link);
const first = want(0);
for (let k = 1; k < 3000; k++) want(k);
const before = asked.length;
for (let n = 0; n < asked.length; n++) came({ k: asked[n] }, link);
const all = [...asked];
for (let k = 5000; k < 7000; k++) want(k);
const gone = want(4000); // waits, and is given up
for (let k = 7000; k < 9000; k++) want(k);
gone.want();
first.want();
for (let n = all.length; n < asked.length; n++) came({ k: asked[n] }, link);
const more = asked.slice(all.length);
const waits = picture(1, link, { s: 'one', at: 5 }), drawn = [], el = { style: {}, classList: { toggle: (_, on) => drawn.push(on) } };
show(el, waits, [1, 0, 0, 2, 2], { w: 1, h: 1 });
came({ k: 1 }, link); // the image does not exist
const lost = asked.length, told = [];
link.write = (m) => told.push(m);
show(el, waits, [1, 0, 0, 2, 2], { w: 1, h: 1 });
link.turn = {}; // it broke before there was an answer
again(link);
again(link);
came({ k: 1, png: btoa('png') }, link);
again(link);
const later = [];
link.turn = {};
link.write = () => {}; // it is not connected yet
const row = picture('far', link, { s: 'one' });
link.write = (m) => later.push(m);
again(link);
const early = later.length;
show(el, row, [1, 0, 0, 2, 2], { w: 1, h: 1 });
console.log(JSON.stringify({ before, all, more, early, later, lost: lost - all.length - more.length, told, drawn, style: el.style.background.slice(0, 10) }));`
	var got struct {
		Before    int
		All, More []int
		Lost      int
		Early     int
		Told      []map[string]any
		Later     []map[string]any
		Drawn     []bool
		Style     string
	}
	if err := json.Unmarshal(runModule(t, script, "images.js"), &got); err != nil {
		t.Fatal(err)
	}
	const atOnce, most = 32, 1024
	run := func(from, n, step int) (out []int) {
		for i := range n {
			out = append(out, from+i*step)
		}
		return out
	}
	if want := append(run(0, atOnce, 1), run(2999, most, -1)...); got.Before != atOnce || !slices.Equal(got.All, want) {
		t.Errorf("got %d requests at once, and %d in all: %v", got.Before, len(got.All), got.All)
	}
	want := slices.Concat(run(5000, atOnce, 1), []int{0, 4000}, run(8999, most, -1))
	if !slices.Equal(got.More, want) {
		t.Errorf("then %d: %v", len(got.More), got.More)
	}
	one := map[string]any{"t": "img", "k": 1.0, "s": "one", "at": 5.0}
	if got.Lost != 1 || len(got.Told) != 3 || !reflect.DeepEqual(got.Told[2], one) || !slices.Equal(got.Drawn, []bool{true, true, false, false}) || got.Style != `url("blob:` {
		t.Errorf("image that is missing at first: got %+v", got)
	}
	if far := (map[string]any{"t": "img", "k": "far", "s": "one"}); got.Early != 0 || len(got.Later) != 1 || !reflect.DeepEqual(got.Later[0], far) {
		t.Errorf("row from before the connection: got %d requests, %+v", got.Early, got.Later)
	}
}
