package building

import "testing"

// TestPure checks that code that only computes and prints is distinguished from other code, and that unknown code
// counts as other.
//
// FEATURES: R61
func TestPure(t *testing.T) {
	for _, row := range []struct {
		lang, code string
		pure       bool
	}{
		{"python", "print(1)", true}, {"python", "import sys; print(sys.version, sys.path[0])", true}, {"python", `print("a" + 'b' * 3, sep=",")`, false},
		{"python", "print(len([1, 2]) if 1 else 2)", true}, {"python", "print(sum(range(10)) / 2)", true}, {"python", "", true},
		{"python", "import os; os.system('x')", false}, {"python", "print(eval('1'))", false}, {"python", "x=1", false}, {"python", "from os import system", false},
		{"python", "print(f'{x}')", false}, {"python", "print('{}')", false}, {"python", "print(a)(b)", false}, {"python", "print(a[0](b))", false}, {"python", "print('x'(b))", false},
		{"python", "print(x.__class__)", false}, {"python", "print(1)\nexec('x')", false}, {"python", "print(lambda: 1)", false}, {"python", "print (open ('x','w'))", false},
		{"python", "print(system ('x') if 1 else 2)", false}, {"python", "del x", false}, {"python", "import a as b", false}, {"python", "print(not (1))", true},
		{"node", "process.version", true}, {"node", "console.log(JSON.stringify([1, 2]))", true}, {"node", "require('fs')", false}, {"node", "a=>b", false}, {"node", "new X", false},
		{"node", "eval('x')", false}, {"ruby", "1", false},
		{"python", "import os; [print('id') for print in [os.system]]", false}, {"python", "any(len('curl x') for len in [os.system])", false},
		{"python", "[1 for print.y in [1]]", false}, {"python", "for str.x in [1]: print(1)", false}, {"python", "[print('id')for print in[eval]]", false},
		{"python", "[1for sys.path in[[1]]]; import x", false}, {"python", "print([x for x in range(3)])", false}, {"python", "(print := 1)", false}, {"python", "lambda print: 1", false},
		{"python", "print(os.system)", false}, {"python", "print(exec)", false}, {"python", "print(print)", false}, {"python", "os.print('x')", false}, {"python", "print(os.environ)", false},
		{"python", `type("X", (), dict([("_" + "_class_getitem_" + "_", eval)]))["1"]`, false},
		{"python", `""" " """,exec('x'),""" " """`, false}, {"python", "import __hello__", false},
		{"python", "import os; print(os.path.join('a', 'b'), ', '.join(sys.path))", true}, {"python", "print(10 // 3, 0x1f, 1.5)", true},
		{"node", "console.log(10 / 3, (1) / 2)", true}, {"node", "console.log(process.version.toString())", true}, {"node", "JSON.stringify([1], child_process.execSync)", false},
		{"node", `/"/,require('child_process').execSync('id'),/"/`, false}, {"node", `1/*"*/,eval('x')//"`, false}, {"node", `if (1) /"/,eval('x'),/"/`, false},
		{"node", `typeof /"/,eval('x'),/"/`, false}, {"node", "and (1)", false},
	} {
		if got := IsPure(row.lang, row.code); got != row.pure {
			t.Errorf("%s: %q: %v", row.lang, row.code, got)
		}
	}
}
