package building

import "testing"

// Code that only computes and prints is told from all other: what is not known is the other.
//
// FEATURES: R61
func TestPure(t *testing.T) {
	for _, row := range []struct {
		lang, code string
		pure       bool
	}{
		{"python", "print(1)", true}, {"python", "import sys; print(sys.version, sys.path[0])", true}, {"python", `print("a" + 'b' * 3, sep=",")`, false},
		{"python", "print(len([x for x in range(3) if x]))", true}, {"python", "print(sum(range(10)) / 2)", true}, {"python", "", true},
		{"python", "import os; os.system('x')", false}, {"python", "print(eval('1'))", false}, {"python", "x=1", false}, {"python", "from os import system", false},
		{"python", "print(f'{x}')", false}, {"python", "print('{}')", false}, {"python", "print(a)(b)", false}, {"python", "print(a[0](b))", false}, {"python", "print('x'(b))", false},
		{"python", "print(x.__class__)", false}, {"python", "print(1)\nexec('x')", false}, {"python", "print(lambda: 1)", false}, {"python", "print (open ('x','w'))", false},
		{"python", "print(system ('x') if 1 else 2)", false}, {"python", "del x", false}, {"python", "import a as b", false}, {"python", "print(not (1))", true},
		{"node", "process.version", true}, {"node", "console.log(JSON.stringify([1, 2]))", true}, {"node", "require('fs')", false}, {"node", "a=>b", false}, {"node", "new X", false},
		{"node", "eval('x')", false}, {"ruby", "1", false},
	} {
		if got := Pure(row.lang, row.code); got != row.pure {
			t.Errorf("%s: %q: %v", row.lang, row.code, got)
		}
	}
}
