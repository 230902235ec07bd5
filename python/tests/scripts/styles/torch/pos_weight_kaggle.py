#!/usr/bin/env python
# coding: utf-8

# In[1]:


import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader


# In[2]:


rng = np.random.default_rng(3)
train_x = rng.normal(size=(360, 8)).astype(np.float32)
train_y = (train_x[:, 0] * train_x[:, 1] + train_x[:, 2] > 1.2).astype(np.float32).reshape(-1, 1)
val_x, val_y = train_x[300:], train_y[300:]
train_x, train_y = train_x[:300], train_y[:300]


# In[3]:


class Model(nn.Module):
    def __init__(self, num_features, hidden_size=24):
        super().__init__()
        self.batch_norm1 = nn.BatchNorm1d(num_features)
        self.dense1 = nn.Linear(num_features, hidden_size)
        self.dropout1 = nn.Dropout(0.1)
        self.dense2 = nn.Linear(hidden_size, 1)

    def forward(self, x):
        x = self.batch_norm1(x)
        x = F.elu(self.dense1(x))
        x = self.dropout1(x)
        return self.dense2(x)


# In[4]:


device = "cuda" if torch.cuda.is_available() else "cpu"
model = Model(train_x.shape[1]).to(device)
pos_weight = torch.tensor([(train_y == 0).sum() / (train_y == 1).sum()])
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight.to(device))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=1)

train_loader = DataLoader(TensorDataset(torch.tensor(train_x), torch.tensor(train_y)), batch_size=50, shuffle=True)
val_loader = DataLoader(TensorDataset(torch.tensor(val_x), torch.tensor(val_y)), batch_size=60)


# In[5]:


for epoch in range(8):
    model.train()
    for xb, yb in train_loader:
        xb, yb = xb.to(device), yb.to(device)
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    val_loss = 0
    with torch.no_grad():
        for xb, yb in val_loader:
            val_loss += criterion(model(xb.to(device)), yb.to(device)).item()
    scheduler.step(val_loss)
    print(epoch, val_loss)
