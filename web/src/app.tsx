// The page of `tengen web`, and of reviews in files: a server answers.

import { sayWhy, show } from "./main";
import { compiled, loadKernels } from "./positions";
import { server } from "./server";

compiled()
  .then(loadKernels)
  .then(() => show(server, "sw.js"), sayWhy);
