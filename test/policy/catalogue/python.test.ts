/** Python's tools and interpreters: a tool is a build, other code is run, checking only reads (B5). */
import { expect, test } from "vitest";
import { told } from "./told.ts";

test.each<[string, string[]]>([
  ["pytest -q", ["build cwd tree"]],
  ["pytest -x -k 'a and b' -n auto tests", ["read tests tree", "build cwd tree"]],
  [
    "pytest -p no:cacheprovider tests/a.py::test_b",
    ["read tests/a.py::test_b tree", "build cwd tree"],
  ],
  ["pytest --cov=src --cov-report=html:/etc", ["build cwd tree", "build /etc tree"]],
  ["pytest --rootdir=/p2", ["read /p2", "build cwd tree"]],
  ["pytest -c /tmp/x.ini", ["build /tmp/x.ini code", "build cwd tree"]],
  ["pytest --junitxml=/tmp/x.xml", ["build /tmp/x.xml", "build cwd tree"]],
  ["pytest --version", ["build cwd tree"]],
  ["pytest -p evil", ["build cwd tree", "lift -p of pytest loads code from elsewhere"]],
  ["pytest -pevil", ["build cwd tree", "lift -p of pytest loads code from elsewhere"]],
  [
    "pytest -o cache_dir=/x",
    ["build cwd tree", "lift -o of pytest can load code or write elsewhere"],
  ],
  ["pytest --basetemp=x", ["build cwd tree", "lift --basetemp of pytest empties a folder"]],
  ["pytest --base x", ["build cwd tree", "lift --basetemp of pytest empties a folder"]],
  ["pytest -W error::a.b", ["build cwd tree", "lift -W of pytest loads code from elsewhere"]],
  ["pytest --pdb", ["build cwd tree", "lift --pdb of pytest waits for answers"]],
  ["pytest --pdbcls=a:b", ["build cwd tree", "lift --pdbcls of pytest loads code from elsewhere"]],
  ["mypy src", ["read src tree", "build cwd tree"]],
  ["mypy --cache-dir=/dev/null src", ["read src tree", "build cwd tree"]],
  ["ruff check --fix src", ["read src tree", "build cwd tree"]],
  ["ruff format", ["build cwd tree", "write cwd tree"]],
  ["ruff format --check .", ["read . tree", "build cwd tree"]],
  ["ruff check --config /tmp/x", ["build /tmp/x code", "build cwd tree"]],
  ["black --check .", ["read . tree", "build cwd tree"]],
  ["black src", ["read src tree", "build cwd tree", "write src tree"]],
  ["isort -c .", ["read . tree", "build cwd tree"]],
  ["flake8 src", ["read src tree", "build cwd tree"]],
  ["pyright", ["build cwd tree"]],
  ["pylint src", ["read src tree", "build cwd tree"]],
  ["coverage run -m pytest", ["build cwd tree"]],
  ["coverage run x.py", ["build cwd tree", "run x.py code"]],
  ["coverage report", ["build cwd tree"]],
  [
    "mypy --python-executable=./x",
    ["build cwd tree", "lift --python-executable of mypy runs a program"],
  ],
  ["mypy --install-types", ["build cwd tree", "lift --install-types of mypy installs packages"]],
  [
    "pylint --load-plugins=x src",
    ["read src tree", "build cwd tree", "lift --load-plugins of pylint loads code from elsewhere"],
  ],
  [
    "pylint --init-hook=x src",
    ["read src tree", "build cwd tree", "lift --init-hook of pylint loads code from elsewhere"],
  ],
  [
    "pylint -f a.B src",
    ["read src tree", "build cwd tree", "lift -f of pylint loads code from elsewhere"],
  ],
  ["pyright --pythonpath ./x", ["build cwd tree", "lift --pythonpath of pyright runs a program"]],
  [
    "flake8 --enable-extensions=x",
    ["build cwd tree", "lift --enable-extensions of flake8 loads code from elsewhere"],
  ],
  [
    "coverage run -m pytest -p x",
    ["build cwd tree", "lift coverage run passes on options that are not known to be safe"],
  ],
  ["python3 --version", ["read"]],
  ["python3 -c 'import x'", ["run cwd tree"]],
  ["python3 script.py --out /etc/x", ["run cwd tree", "run script.py code", "read /etc/x"]],
  ["python3 -u script.py", ["run cwd tree", "run script.py code"]],
  ["python3 -", ["run cwd tree"]],
  ["python3", ["run cwd tree"]],
  [
    "python3 -m pytest tests/ -v --tb=short",
    ["build cwd tree", "read tests/ tree", "build cwd tree"],
  ],
  ["python3 -mpytest -q", ["build cwd tree", "build cwd tree"]],
  ["python -m py_compile src/a.py", ["build cwd tree", "read src/a.py", "build cwd tree"]],
  [
    "python3 -m unittest discover -s tests",
    ["build cwd tree", "read tests tree", "build cwd tree"],
  ],
  ["python3 -m json.tool a.json", ["build cwd tree", "read a.json", "build cwd tree"]],
  ["python3 -m mypy src", ["build cwd tree", "read src tree", "build cwd tree"]],
  ["python3 -m http.server 8000", ["run cwd tree"]],
  ["python3.11 -m pip install pandas", ["build cwd tree", "install cwd tree"]],
  ["python3 -m venv x", ["build cwd tree", "install cwd tree"]],
  [
    "python3 -m pytest -p evil",
    ["build cwd tree", "build cwd tree", "lift -p of python3 -m pytest loads code from elsewhere"],
  ],
  [
    "python3 -Wignore::a.b x.py",
    ["run cwd tree", "run x.py code", "lift -W of python3 can load code or write elsewhere"],
  ],
  [
    "python3 -X pycache_prefix=/x a.py",
    ["run cwd tree", "run a.py code", "lift -X of python3 can load code or write elsewhere"],
  ],
  ["python3 --frob x", ["run cwd tree", "run x code", "lift unknown option --frob of python3"]],
  ["python3 -m <?>", ["run cwd tree"]],
])("%s", (line, lines) => {
  expect(told(line)).toEqual(lines);
});
