"""The scripted endpoint as a program, for launch blocks: `python -m tests.support.launched_endpoint PORT GOOD`.

After GOOD requests its memory runs out at every one, which it prints as an engine does.
"""

import sys
import time

from tests.support.endpoint import Behaviour, endpoint

if __name__ == "__main__":
    with endpoint(Behaviour(good=int(sys.argv[2]), then="out_of_memory"), int(sys.argv[1])):
        time.sleep(3600)
